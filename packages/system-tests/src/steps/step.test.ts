// What npm run generate makes of a step in TypeScript.

import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const root = resolve(__dirname, '../../../..')

/** The sections of a step by their names, or what the error says, of the module's text. */
function translated(...texts: string[]): (Record<string, string[]> | string)[] {
  const print = `
    import { stepsOf } from './scripts/generate/lua/step.mjs'
    const imported = () => 'export const MOST = 8\\nexport function half(x: number) { return x / 2 }'
    const about = { path: 'some.ts', imported, shared: ['tickAt'] }
    const made = ${JSON.stringify(texts)}.map((text) => {
      try { return Object.fromEntries(stepsOf(text, about)[0].sections) } catch (error) { return error.message }
    })
    console.log(JSON.stringify(made))`
  const args = ['--input-type=module', '--eval', print]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
}

/** A module with a step; its functions begin on line 5. */
function stepWith(functions: string): string {
  return `import { half, MOST } from './other.ts'
const LEAST = 2 * 1_000
interface Constants { units: number; readonly ticks: number; readonly list: List<2> }
const step = {
${functions}
} satisfies Step<Constants>
function least(count: number, { units }: Constants) { return Math.min(count + 1, units * 2) }
function both(limit: Constants, by: number) { const y = by; limit.ticks = y }`
}

/** The Lua of statements in `commit`. */
function lua(...statements: string[]): unknown[] {
  const steps = statements.map((each) => stepWith(`commit(state, limit, now, cost) { ${each} }`))
  return translated(...steps).map((made) => (typeof made === 'string' ? made : made.commit))
}

test('statements and expressions', () => {
  const cases: [string, string[]][] = [
    ['state.a = 1_000', ['a = 1000']],
    ['state.a += cost * limit.units', ['a = a + cost * units']],
    ['state.a = now - (cost - 1) - -1', ['a = now - (cost - 1) - -1']],
    ['state.a = MOST + LEAST', ['a = 8 + 2000']],
    ['state.a = half(cost) + tickAt(now, limit.ticks)', ['a = cost / 2 + tickAt(now, ticks)']],
    ['state.a = least(cost, limit)', ['a = math.min(cost + 1, units * 2)']],
    ['state.rebased = !(cost > 1 || now === 0)', ['rebased = not (cost > 1 or now == 0)']],
    ['state.a = cost > 1 ? 1 : now > 2 ? 2 : 3', ['a = cost > 1 and 1 or now > 2 and 2 or 3']],
    ['state.a = (cost > 1 || now > 1 ? 0 : 2) + 1', ['a = ((cost > 1 or now > 1) and 0 or 2) + 1']],
    ['state.a = Math.floor(now / cost)', ['a = (now - now % cost) / cost']],
    ['state.a = Math.floor((now + 1) / cost)', ['a = math.floor((now + 1) / cost)']],
    ['state.a = now - Math.floor(now / cost) * cost', ['a = now % cost']],
    ['state.a = now - Math.floor(now / cost) * 2', ['a = now - (now - now % cost) / cost * 2']],
    ['state.a = limit.list[cost - 1] as number', ['a = ({ list1, list2 })[cost]']],
    ['state.a = limit.list[cost] as number', ['a = ({ list1, list2 })[cost + 1]']],
    ['state.a = Math.max(now, cost)', ['a = now > cost and now or cost']],
    [
      'let x = cost; x += 1; state.a = x',
      ['do', '  local x = cost', '  x = x + 1', '  a = x', 'end'],
    ],
    [
      'if (cost > 1) state.a = 1\nelse if (cost > 2) state.a = 2\nelse state.a = 3',
      ['if cost > 1 then', '  a = 1', 'elseif cost > 2 then', '  a = 2', 'else', '  a = 3', 'end'],
    ],
    ['if (cost > 1) return\nstate.a = 1', ['if cost > 1 then', 'else', '  a = 1', 'end']],
  ]
  expect(lua(...cases.map(([statement]) => statement))).toEqual(cases.map(([, lines]) => lines))
})

test('a section sets what the script asks of it, and what it declares is its own', () => {
  const [made] = translated(
    stepWith(`
enter(state, _limit, now) { const x = now; if (state.a < x) state.a = x },
room(state, { units }) { return units - state.b },
full({ a }, { ticks }) {
  if (a === 0) return 0
  const last = a + ticks
  if (last > 9) { return 9 } else { return last }
},
own(limit, ownLimit) { limit.units = ownLimit; both(limit, 7) },
`),
  )
  expect(made).toEqual({
    enter: ['do', '  local x = now', '  if a < x then', '    a = x', '  end', 'end'],
    decide: ['do', '  local room = units - b', '  admitted = cost <= room and room > 0', 'end'],
    full: [
      ...['if a == 0 then', '  fullIn = 0', 'else', '  local last = a + ticks'],
      ...['  if last > 9 then', '    fullIn = 9', '  else', '    fullIn = last', '  end', 'end'],
    ],
    own: ['units = ownLimit', 'do', '  local y = 7', '  ticks = y', 'end'],
  })
})

test('all else is an error that names the line, and what to write', () => {
  const cases = {
    'state.a = now % 2':
      '% has no Lua: Lua rounds it down, JavaScript towards 0: write x - Math.floor(x / y) * y',
    'if (cost) state.a = 1': 'cost is a number, not a boolean: 0 is true in Lua, so write x !== 0',
    'state.a = cost || 1': 'cost is a number, not a boolean: 0 is true in Lua, so write x !== 0',
    'state.rebased = cost > 1 ? cost > 2 : cost > 3':
      'cost > 2 is a boolean, not a number: write an if',
    'state.a = cost > 1': 'a is a number, cost > 1 is not',
    'state.a = cost == 1 ? 1 : 2': '== has no Lua: write ===',
    'state.a = state.log': 'a state has a, b, c and rebased, and a limit its constants',
    'state.a = limit.burst': 'burst is none of the constants',
    'state.a = outside': 'outside has no meaning in Lua',
    'state.a = Infinity': 'Infinity has no meaning in Lua',
    'state.a = Math.round(cost)': 'Math.round has no Lua: there are ceil, floor, max, min',
    'state.a = Date.now()': 'it calls a function that Lua does not have: write it here',
    'now = 1': 'an assignment changes a variable or the state',
    'state.a = limit.units[1]': 'it is no list of constants',
    'state.a = limit.list': 'a is a number, list is not',
    'limit.units = 1': 'only `own` changes constants',
    'const end = 1': 'end means something else in Lua: take another name',
    'const a = 1': 'a means something else in Lua: take another name',
    'let x': 'declare one name with a number: Lua would give it nil',
    'cost++': 'a statement assigns, or asks by if: write x += 1 for x++',
    'for (;;) {}': 'ForStatement has no Lua',
    'return 1': 'it returns what its section does not',
    'if (cost > 1) { if (now > 1) return }\nstate.a = 1':
      'a return must end its branch: Lua has none in a section',
  }
  const messages = Object.values(cases).map((message) => `some.ts:5: ${message}`)
  expect(lua(...Object.keys(cases))).toEqual(messages)
  expect(translated(stepWith('commit(state, limit, cost) {}'), stepWith('drain() {}'))).toEqual([
    'some.ts:5: parameter 3 of commit is called now',
    'some.ts:5: a step has the functions enter, room, commit, settle, full, keep, own, grantEnd',
  ])
})
