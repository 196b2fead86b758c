// The words about an option that the reference page and the interfaces share.
import { inspect } from 'node:util'
import { core } from '../core.mjs'

const { MAX_LIMIT } = await core('algorithms/algorithm.ts')
const { ALGORITHM_NAMES, algorithms } = await core('algorithms/index.ts')
const { spokenDuration } = await core('options/duration.ts')
const { algorithmsWith } = await core('options/algorithm-options.ts')

export const code = (text) => `\`${text}\``

export const capital = (text) => text[0].toUpperCase() + text.slice(1)

/** `integer, 1 … 10^12 units` */
export function formOf({ type }) {
  return type.range === undefined ? type.form : `${type.form}, ${type.range.trim()}`
}

/** Undefined if the option has to be set. */
export function defaultOf(name, option) {
  const [algorithm] = algorithmsWith(name)
  if (algorithm !== undefined) return ofAlgorithm(option, algorithms[algorithm].options[name])
  return option.default === undefined ? option.unset : code(written(option.default))
}

/** `10_000`, `['a', 'b']` */
function written(value) {
  const numericSeparator = typeof value === 'number' && value >= 10_000
  return inspect(value, { numericSeparator }).replace(/^\[ (.*) \]$/, '[$1]')
}

function ofAlgorithm({ type }, value) {
  return type.form === 'duration' ? spokenDuration(value) : code(value)
}

/** What options are given by mistake: of a wrong type, out of range, empty. */
const WRONG = [-1, 0.5, '', 'no', true, {}, [2]]

/** The codes of what wrong values throw. */
export function errorsOf({ type, errors }) {
  if (errors !== undefined) return errors.split(' ')
  const codes = WRONG.flatMap((value) => {
    try {
      type.check('option', value)
      return []
    } catch ({ code }) {
      return [code]
    }
  })
  return [...new Set(codes)]
}

/** The rules for some algorithms alone, as sentences. */
export function algorithmsOf(name) {
  const having = algorithmsWith(name).map((algorithm) => code(`'${algorithm}'`))
  if (having.length > 0) return `Only with \`algorithm\` ${having.join(' or ')}.`
  if (name !== 'limit') return ''
  const all = new Set(ALGORITHM_NAMES.map((each) => algorithms[each].maxLimit))
  all.delete(Number.MAX_SAFE_INTEGER)
  return [...all]
    .map((most) => {
      const names = ALGORITHM_NAMES.filter((each) => algorithms[each].maxLimit === most)
      const shown = most === MAX_LIMIT ? '10^12' : most.toLocaleString('en-US')
      return `With ${names.map((each) => code(`'${each}'`)).join(', ')} at most ${shown}.`
    })
    .join(' ')
}

/** The result of a function of the request: `one`, which is one of the option's values, or which. */
export function returned({ perRequest }) {
  return perRequest.form === undefined ? 'one' : `a ${perRequest.form}`
}
