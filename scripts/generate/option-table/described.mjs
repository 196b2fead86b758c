// The table of options, each with what the reference says about it.

import { core } from '../core.mjs'
import { PROSE } from './prose.mjs'

const { OPTIONS: TABLE } = await core('options/table.ts')

export const OPTIONS = withProse(TABLE, PROSE, (options, place) =>
  withProse(options, PROSE[place], (option, name) => described(option, PROSE[place][name], name)),
)

function withProse(rows, prose, merge) {
  const names = Object.keys(rows)
  const missing = names.filter((name) => !Object.hasOwn(prose, name))
  const extra = Object.keys(prose).filter((name) => !Object.hasOwn(rows, name))
  if (missing.length + extra.length > 0)
    throw new Error(`option-table/prose.mjs: lacks ${missing}; of nothing: ${extra}`)
  return Object.fromEntries(names.map((name) => [name, merge(rows[name], name)]))
}

function described(option, { form, typescript, required, inPolicies, ...words }, name) {
  const type = { ...option.type, ...defined({ form }), ...defined({ typescript }) }
  const ifNotSet = [option.default, option.required, words.unset]
  const isRight =
    [words.description, words.avoid].every((text) => /^[A-Z].*\.$/.test(text)) &&
    words.example.split('\n').length <= 8 &&
    ifNotSet.filter((each) => each !== undefined).length === 1 &&
    Boolean(option.required) === Boolean(required) &&
    Boolean(option.inPolicies) === Boolean(inPolicies) &&
    type.form !== undefined &&
    type.typescript !== undefined
  if (!isRight) throw new Error(`option-table/prose.mjs: ${name} is not described as it is`)
  return { ...option, ...words, type, required, inPolicies }
}

/** The object without a property that is undefined. */
function defined(given) {
  return Object.values(given).includes(undefined) ? {} : given
}
