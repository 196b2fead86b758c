// The Lua of a step, from its TypeScript.

import { atom, OutsideSubset } from './expressions.mjs'
import { Module } from './module.mjs'
import { Scope } from './scope.mjs'
import { statements } from './statements.mjs'

/** The functions of `Step`: what they get besides state and constants, and what Lua makes of what they return. */
const SECTIONS = {
  enter: { gets: ['state', 'constants', 'now'] },
  room: {
    name: 'decide',
    gets: ['state', 'constants', 'now'],
    gives: 'room',
    decides: 'admitted = cost <= room and room > 0',
  },
  commit: { gets: ['state', 'constants', 'now', 'cost'] },
  settle: { gets: ['state', 'constants', 'now', 'delta', 'chargedAt', 'remaining'] },
  full: { gets: ['state', 'constants', 'now'], gives: 'fullIn' },
  keep: { gets: ['state', 'constants', 'fullIn'], gives: 'keepFor' },
  own: { gets: ['constants', 'ownLimit', 'ownBurst', 'ownDelay'] },
  grantEnd: { gets: ['state', 'constants', 'now'], gives: 'ends' },
}
/** Names of the script around the sections. */
const NAMES = [
  ...['a', 'b', 'c', 'rebased', 'admitted'],
  ...Object.values(SECTIONS).flatMap(({ gets, gives = [] }) => gets.concat(gives)),
]

/**
 * @param text a module with constants that satisfy `Step` of an interface of the limit's constants
 * @param about path of the module, for errors; `imported` gives the text of a module that it imports; `shared`:
 *   names of the functions that Lua has too
 * @returns each step: its name, the names of the limit's constants, and the sections with their texts
 */
export function stepsOf(text, { path, imported, shared }) {
  return located(path, () => {
    const module = new Module(text, imported, shared)
    const steps = [...module.declared].flatMap(([name, node]) => {
      const constants = constantsOf(node, module)
      return constants === undefined ? [] : [{ name, constants, object: node.expression }]
    })
    return steps.map(({ name, constants, object }) => {
      module.constants = constants
      const sections = object.properties.map((each) => sectionOf(each, module))
      return { name, constants: [...constants.values()].flat(), sections }
    })
  })
}

/** The limit's constants, if a value satisfies `Step` of them. */
function constantsOf(node, module) {
  if (node?.type !== 'TSSatisfiesExpression') return undefined
  let type = node.typeAnnotation
  while (type.typeName.name === 'Partial') [type] = type.typeParameters.params
  if (type.typeName.name !== 'Step') return undefined
  const [{ typeName }] = type.typeParameters.params
  const members = module.declared.get(typeName.name).body.body
  return new Map(
    members.map(({ key: { name }, typeAnnotation: { typeAnnotation } }) => {
      if (typeAnnotation.typeName?.name !== 'List') return [name, [name]]
      const { value: length } = typeAnnotation.typeParameters.params[0].literal
      return [name, Array.from({ length }, (_, i) => `${name}${i + 1}`)]
    }),
  )
}

/** @returns a Lua function as an assignment to its name, of a function that several steps call */
export function functionOf(text, name, { path, shared }) {
  return located(path, () => {
    const module = new Module(text, undefined, shared)
    const { params, body } = module.declared.get(name)
    const scope = new Scope(module, new Map(), [])
    const names = params.map((each) => scope.declare(each, atom(each.name)))
    const lines = statements(body.body, scope, (value) => `return ${value}`)
    return [`${name} = function(${names.join(', ')})`, ...lines.map((line) => `  ${line}`), 'end']
  })
}

function sectionOf({ type, key, params, body }, module) {
  const section = SECTIONS[key?.name]
  if (type !== 'ObjectMethod' || section === undefined)
    throw new OutsideSubset(
      key ?? body,
      `a step has the functions ${Object.keys(SECTIONS).join(', ')}`,
    )
  const { name = key.name, gets, gives, decides } = section
  const scope = new Scope(
    module,
    new Map(),
    [...NAMES, ...module.constants.keys()],
    key.name === 'own',
  )
  for (const [i, parameter] of params.entries()) {
    const given = gets[i]
    if (given === 'state' || given === 'constants') scope.bind(parameter, given)
    else if (parameter.name === given || parameter.name === `_${given}`)
      scope.names.set(given, atom(given))
    else throw new OutsideSubset(parameter, `parameter ${i + 1} of ${key.name} is called ${given}`)
  }
  const lines = statements(body.body, scope, gives && ((value) => `${gives} = ${value}`))
  return [name, hygienic(decides === undefined ? lines : deciding(lines, gives, decides))]
}

/** The lines that set a variable, and what is decided by it. */
function deciding(lines, name, decides) {
  const last = lines.at(-1)
  const isSetOnce = last.startsWith(`${name} = `)
  const set = isSetOnce ? [...lines.slice(0, -1), `local ${last}`] : [`local ${name}`, ...lines]
  return [...set, decides]
}

/** Names that a section declares are unknown to the script around it. */
function hygienic(lines) {
  if (!lines.some((line) => line.startsWith('local '))) return lines
  return ['do', ...lines.map((line) => `  ${line}`), 'end']
}

/** Errors name the file and the line. */
function located(path, act) {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof OutsideSubset)) throw error
    throw new Error(`${path}:${error.line}: ${error.message}`, { cause: error })
  }
}
