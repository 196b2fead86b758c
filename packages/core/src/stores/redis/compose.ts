import ticks from '../../algorithms/ticks.lua.generated.ts'
import driver from './driver.lua.generated.ts'
import request from './request.lua.generated.ts'

// The Lua form of a step is statements, in sections that begin with a line `--# name`. One source,
// two compositions: in request.lua its sections stand inline, in driver.lua as functions.
//
// | section  | reads                                    | sets                                      |
// | -------- | ---------------------------------------- | ----------------------------------------- |
// | `check`  | `now`                                    | `problem`: why the step can't be run      |
// | `enter`  | `now`, the state `a`, `b`, `c`           | the state as it is at `now`; `rebased`    |
// | `decide` | `now`, `cost`, the state at `now`        | `admitted`                                |
// | `commit` | `now`, `cost`, the state at `now`        | the state, charged                        |
// | `settle` | `now`, `delta`, `chargedAt`, that state  | the state, corrected                      |
// | `renew`  | `now`, `slots`, that state               | the state, with the slots held anew       |
// | `renew`  | `now`, `slots`, that state               | the state, with these slots held anew     |
// | `whole`  | `now`, the state at `now`                | `wholeIn`: ms until the limit is whole    |
// |          |                                          | again, at least (0: it is)                |
// | `keep`   | `wholeIn`, the same                      | `keepFor`: ms to keep a state that is     |
// |          |                                          | written anew, `wholeIn` until it is set   |
//
// `check`, `renew` and `keep` may be left out. `enter` stands before `decide` and before `settle`, `whole`
// after `commit` and after `settle`, each time in the same block. All see the constants by name,
// `MAX_EXACT`, and what ticks.lua has; that only where a step has all of its constants, whose names
// follow on the line `--# constants`. In request.lua the names of the state, of the constants, and
// `cost`, `admitted`, `rebased` and `problem` end with the number of the policy.
//
// A step that keeps entries behind its state has a section `functions` too, and stands in driver.lua
// alone. There its sections see `key`, and after `decide` also `slot` (0: none); `decide` also sets
// `remaining` (units), `resetIn` and `wait` (ms, or NEVER), since only the script sees the entries.

interface Step {
  readonly constants: readonly string[]
  /** The text of some sections, one behind the other. */
  sections(...names: string[]): string
  readonly keepsEntries: boolean
  readonly countsRefusals: boolean
}

function parse(lua: string): Step {
  const texts = new Map<string, string>()
  const names: { [section: string]: string[] } = {}
  for (const part of lua.split(/^--# /m).slice(1)) {
    const [line = '', ...text] = part.split('\n')
    const [section = '', ...listed] = line.trim().split(' ')
    names[section] = listed
    texts.set(section, text.join('\n').trim())
  }
  return {
    constants: names.constants ?? [],
    sections: (...wanted) => wanted.map((name) => texts.get(name) ?? '').join('\n'),
    keepsEntries: texts.has('functions'),
    countsRefusals: texts.has('refusals'),
  }
}

/** How one policy's part of a request is put to the script. */
export interface PolicyShape {
  /** See `Algorithm.lua`. */
  readonly lua: string
  /** How many of its constants it is given: the last ones are left out where a tick is 1 ms. */
  readonly constants: number
}

/** What a key is about, from its name (see keys.ts). */
const CLIENT_OF = "local function clientOf(key) return string.match(key, '{.*}') end\n"

/** What decides requests of policies of these shapes, none of which keeps entries. */
export function composeRequest(shapes: readonly PolicyShape[]): string {
  const steps = shapes.map(({ lua }) => parse(lua))
  let last = 0
  const constants = shapes.map((shape) => {
    const first = last + 1
    last += shape.constants
    return Array.from({ length: shape.constants }, (_, n) => `ARGV[${first + n}] + 0`)
  })
  const costs = last
  const [now, leastTtl] = [costs + shapes.length + 1, costs + shapes.length + 2]
  const isCoarse = shapes.some((shape, i) => steps[i]?.constants[shape.constants - 1] === 'ticks')
  const text = request
    .replace(/ *--# each\n([\s\S]*?) *--# end each\n/g, (_, each: string) =>
      steps
        .map((step, i) =>
          forPolicy(each, step, i, constants[i] as string[], costs).replace(
            '--> due',
            dueOf(step, i, steps.length),
          ),
        )
        .join(''),
    )
    .replace('POLICIES', `${steps.length}`)
    .replaceAll('[NOW]', `[${now}]`)
    .replaceAll('[LEAST_TTL]', `[${leastTtl}]`)
  const client = steps.some(({ countsRefusals }) => countsRefusals) ? CLIENT_OF : ''
  return withoutComments(client + (isCoarse ? ticks + text : text))
}

/** @param i of the policy, from 0 */
function forPolicy(each: string, step: Step, i: number, values: readonly string[], costs: number) {
  const number = i + 1
  const own = step.constants.map((name) => `${name}_${number}`).join(', ')
  return each
    .replace(/^.* --\? (.*)\n/gm, (line, name: string) => (step.sections(name) === '' ? '' : line))
    .replace(/\bi\b/g, `${number}`)
    .replace(/_i\b/g, `_${number}`)
    .replaceAll(`[COST_${number}]`, `[${costs + number}]`)
    .replace(/^ *--> (?!due)(.*)$/gm, (_, names: string) =>
      names === 'constants'
        ? `local ${own} = ${values.join(', ')}`
        : numbered(step, number, step.sections(...names.split(' ')), names.startsWith('commit')),
    )
}

/** What each policy has its own of. */
const OWN = ['a', 'b', 'c', 'cost', 'admitted', 'rebased', 'problem']

/** Some sections with the policy's number behind the names that it has its own of. */
function numbered(step: Step, number: number, sections: string, charges: boolean): string {
  const own = new Set([...OWN, ...step.constants])
  return sections.replace(/'[^'\n]*'|\b[a-zA-Z]\w*/g, (word) => {
    if (word === 'cost' && charges) return `due_${number}`
    return own.has(word) ? `${word}_${number}` : word
  })
}

/**
 * How much a policy is charged.
 *
 * @param i of the policy, from 0
 */
function dueOf({ countsRefusals }: Step, i: number, policies: number): string {
  const own = i + 1
  const numbers = Array.from({ length: policies }, (_, j) => j + 1)
  if (!countsRefusals) {
    const all = numbers.map((number) => `admitted_${number}`).join(' and ')
    return `local due_${own} = ${all} and cost_${own} or 0`
  }
  const clientOf = (number: number) => `clientOf(KEYS[first + ${number}])`
  const refused = numbers
    .filter((other) => other !== own)
    .map((other) => `not admitted_${other} and ${clientOf(other)} == ${clientOf(own)}`)
  const counts = `readable and admitted_${own} and (${['false', ...refused].join(' or ')})`
  return `local due_${own} = ${counts} and cost_${own} or 0`
}

/** What runs every operation on the states of these steps. */
export function composeDriver(steps: readonly string[]): string {
  const composed = steps.map((lua) => functions(parse(lua))).join(',\n')
  const text = driver
    .replace('--> client', () => CLIENT_OF)
    .replace('--> ticks', () => ticks)
    .replace('--> steps', () => composed)
  return withoutComments(text)
}

/** Servers keep the text, and it is sent to each that has lost it. */
function withoutComments(lua: string): string {
  return lua.replace(/^ *--.*\n/gm, '')
}

function functions(step: Step): string {
  const values = step.constants.map((_, n) => `constants[${n + 1}]`)
  const constants = `local ${step.constants.join(', ')} = ${values.join(', ')}`
  const check = step.sections('check')
  return `(function()
${step.sections('functions')}
return {
entries = ${step.keepsEntries},
check = ${check === '' ? 'nil' : `function(constants, now)\n${constants}\nlocal problem\n${check}\nreturn problem\nend`},
refusals = ${step.countsRefusals},
decide = function(constants, now, cost, a, b, c, key)
${constants}
local admitted, rebased, remaining, resetIn, wait = false, false
${step.sections('enter', 'decide')}
return admitted, rebased, a, b, c, remaining, resetIn, wait
end,
commit = function(constants, now, cost, a, b, c, key, slot)
${constants}
local wholeIn, keepFor
${step.sections('commit', 'whole')}
keepFor = wholeIn
${step.sections('keep')}
return wholeIn, keepFor, a, b, c
end,
settle = function(constants, now, delta, chargedAt, a, b, c, key, slot)
${constants}
local wholeIn, keepFor, rebased
${step.sections('enter', 'settle', 'whole')}
keepFor = wholeIn
${step.sections('keep')}
return wholeIn, keepFor, a, b, c
end,
${step.sections('renew') === '' ? '' : renewal(step, constants)}}
end)()`
}

function renewal(step: Step, constants: string): string {
  return `renew = function(constants, now, slots, a, b, c, key)
${constants}
local wholeIn, keepFor
${step.sections('renew')}
${step.sections('keep')}
return wholeIn, keepFor, a, b, c
end,
`
}
