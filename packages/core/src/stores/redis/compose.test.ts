import { describe, expect, test } from '@jest/globals'
import type { Algorithm } from '../../algorithms/algorithm.ts'
import { ban } from '../../algorithms/ban/ban.ts'
import { ALGORITHM_NAMES, algorithms } from '../../algorithms/index.ts'
import { composeDriver, composeRequest } from './compose.ts'
import { Driver } from './driver.ts'
import { RequestScripts } from './request-scripts.ts'

const { 'fixed-window': fixed, 'token-bucket': token, 'leaky-bucket': leaky } = algorithms
const { 'sliding-window': sliding, 'sliding-log': log } = algorithms

const charge = (algorithm: Algorithm, limit = 10, windowMs = 1000) => {
  return { key: 'a', limit: algorithm.compile({ limit, windowMs }), cost: 1 }
}

describe('the script of one request', () => {
  const scriptOf = (charges: ReturnType<typeof charge>[]) =>
    RequestScripts.of(charges.map(({ limit }) => limit.algorithm))?.of(charges, 0)

  test('is the same for the same algorithms, whatever the limits, so that servers keep few', () => {
    const one = scriptOf([charge(sliding, 10), charge(token, 5)])
    expect(scriptOf([charge(sliding, 7, 60_000), charge(leaky, 1)])).toBe(one)
  })

  test('counts in ticks only where a limit does', () => {
    expect(scriptOf([charge(sliding)])?.text).not.toContain('function')
    expect(scriptOf([charge(sliding, 1e12, 1e10)])?.text).toContain('function tickAt')
  })

  test('has its policies one after the other', () => {
    const text = composeRequest([
      { lua: fixed.lua, constants: 2 },
      { lua: sliding.lua, constants: 2 },
    ])
    expect(text).toContain('local limit_1, window_1 = ARGV[1] + 0, ARGV[2] + 0')
    expect(text).toContain('local limit_2, window_2, ticks_2 = ARGV[3] + 0, ARGV[4] + 0')
    expect(text).toContain('for first = 0, #KEYS - 1, 2 do')
    expect(text).toContain('room = room - math.floor(b_2 * inside / (ticks_2 or window_2))')
    expect(text).not.toMatch(/_i\b|\bi\]|--|COST|NOW|LEAST|POLICIES/)
  })

  test('charges a ban where a policy of the same key refuses, and the policies where none does', () => {
    const text = composeRequest([
      { lua: fixed.lua, constants: 2 },
      { lua: ban.lua, constants: 12 },
    ])
    expect(text).toContain('local due_1 = admitted_1 and admitted_2 and cost_1 or 0')
    expect(text).toContain(
      'not admitted_1 and clientOf(KEYS[first + 1]) == clientOf(KEYS[first + 2])',
    )
    expect(text).not.toMatch(/-->|_i\b|\[i\]/)
  })

  test('is none for four policies, or for a log', () => {
    expect(RequestScripts.of([fixed, fixed, fixed, fixed])).toBeUndefined()
    expect(RequestScripts.of([fixed, log])).toBeUndefined()
  })

  test('so their number has a bound that a server does not evict at', () => {
    const shapes = ALGORITHM_NAMES.filter((name) => !algorithms[name].keepsLog).flatMap((name) =>
      [charge(algorithms[name]), charge(algorithms[name], 1e12, 1e10)].map(({ limit }) => {
        return `${limit.constants(0).length} ${limit.algorithm.lua}`
      }),
    )
    const count = new Set(shapes).size
    const drivers = 2 ** new Set(ALGORITHM_NAMES.map((name) => algorithms[name].lua)).size - 1
    // A ban stands behind the policies, with constants of one number.
    const requests = count + count ** 2 + count ** 3 + (count + count ** 2)
    expect(requests + 2 * drivers).toBeLessThan(500 / 2)
  })
})

describe('the driver', () => {
  test('is the same text for the same steps, in any order', () => {
    expect(new Driver([fixed, token]).script).toBe(new Driver([leaky, fixed, token]).script)
  })

  test('holds a step once that algorithms share, and numbers the steps from 1', () => {
    const driver = new Driver([token, leaky, fixed])
    const [one, two, three] = [token, leaky, fixed].map((algorithm) =>
      driver.step(charge(algorithm).limit),
    )
    expect(one).toBe(two)
    expect([one, three].sort()).toEqual([1, 2])
  })

  test('takes a step as it stands, whatever characters it holds', () => {
    const line = "local text = '$& $1 $$ $` a limit'"
    const lua = `--# constants limit\n--# state a\n\n--# decide\n${line}\n`
    expect(composeDriver([lua])).toContain(line)
    expect(composeRequest([{ lua, constants: 1 }])).toContain(line)
  })
})
