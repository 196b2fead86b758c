import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import { type Algorithm, formOf } from '../../algorithms/algorithm.ts'
import { calendarWindow } from '../../algorithms/calendar-window/calendar-window.ts'
import { ALGORITHM_NAMES, algorithms, ban, concurrency } from '../../algorithms/index.ts'
import { createLimiter } from '../../limiter/create-limiter.ts'
import type { Charge } from '../store.ts'
import { LedgerScripts } from './ledger-scripts.ts'

const {
  'sliding-log': log,
  'sliding-window': sliding,
  'token-bucket': token,
  'leaky-bucket': leaky,
} = algorithms
const onServersClock = { now: -1, minTtlMs: 1000 }

function charge(algorithm: Algorithm, limit = 10, windowMs = 1000, cost = 1): Charge {
  return { key: 'ada', limit: algorithm.compile({ limit, windowMs }), cost }
}

/** The scripts of a ledger whose charges always have these limits. */
function ledgerOf(...charges: Charge[]): Promise<LedgerScripts> {
  return LedgerScripts.load(
    charges.map(({ limit }) => ({ name: 'p', algorithm: limit.algorithm, limit })),
  )
}

/** The scripts of a ledger whose limits are functions of the request. */
function varying(...charges: Charge[]): Promise<LedgerScripts> {
  return LedgerScripts.load(charges.map(({ limit }) => ({ name: 'p', algorithm: limit.algorithm })))
}

describe('a request', () => {
  test('needs no arguments where its limits never change and each costs one unit', async () => {
    const charges = [charge(sliding, 12_345), charge(token)]
    const { script, args } = (await ledgerOf(...charges)).decide([charges], onServersClock)
    expect(args).toEqual([])
    expect(script.text).toContain('= 12345, 1000')
  })

  test('needs none either where its only limit refuses nothing', async () => {
    const refusing = charge(sliding)
    const scripts = await ledgerOf(refusing)
    const others = { ...refusing, limit: formOf(refusing.limit, false) }
    const [call, other] = [refusing, others].map((each) => scripts.decide([[each]], onServersClock))
    expect(other).toEqual(call)
  })

  test('has its constants as arguments where they change, its cost too where it is another', async () => {
    const charges = [charge(sliding, 10), charge(token)]
    const scripts = await varying(...charges)
    const constants = ['10', '1000', ...charges[1]!.limit.constants(0).map(String)]
    expect(scripts.decide([charges], onServersClock).args).toEqual(constants)
    const dear = [charge(sliding, 10, 1000, 7)]
    expect((await ledgerOf(...dear)).decide([dear], onServersClock).args).toEqual([
      '10',
      '1000',
      '7',
    ])
  })

  test('shares its script with those of other limits, which are functions of the request', async () => {
    const texts = [10, 20].map(async (limit) => {
      const charges = [charge(sliding, limit), charge(leaky, limit)]
      return (await varying(...charges)).decide([charges], onServersClock).script
    })
    expect(await texts[0]).toBe(await texts[1])
  })

  test('counts in ticks only where a limit does', async () => {
    const texts = [charge(sliding), charge(sliding, 1e12, 1e10)].map(async (each) => {
      const { text } = (await varying(each)).decide([[each]], onServersClock).script
      // What every run passes; a client's own limit may need them later.
      return text.slice(0, text.indexOf('for first'))
    })
    const [fine, coarse] = await Promise.all(texts)
    expect(fine).not.toContain('tickAt = function')
    expect(coarse).toContain('tickAt = function')
  })
})

test('one script decides all requests of a limiter whose states have entries', async () => {
  const charges = [charge(log), { ...charge(log), cost: 3 }]
  const scripts = await ledgerOf(charges[0]!)
  const [one, other] = charges.map((each) => scripts.decide([[each]], onServersClock).script)
  expect(one).toBe(other)
})

test('windows of the calendar never stand in a text, since they move', async () => {
  const known = await LedgerScripts.load([
    { name: 'p', algorithm: calendarWindow, limit: charge(sliding).limit },
  ])
  const charges = [charge(sliding)]
  expect(known.decide([charges], onServersClock).args).not.toEqual([])
})

test('only so many limits stand in a text that servers never drop a script', async () => {
  const texts = new Set<string>()
  for (let limit = 1; limit <= 100; limit += 1) {
    const charges = [charge(sliding, limit)]
    texts.add((await ledgerOf(...charges)).decide([charges], onServersClock).script.text)
  }
  expect(texts.size).toBeLessThanOrEqual(33)
})

test('steps that share a script have no function of the same name', async () => {
  const steps = await Promise.all(
    [...Object.values(algorithms), concurrency].map((each) => each.lua()),
  )
  const names = steps.flatMap(({ entries }) => {
    return [...(entries?.functions ?? '').matchAll(/^local function (\w+)/gm)].map(
      ([, name]) => name,
    )
  })
  expect(names.length).toBeGreaterThan(10)
  expect(new Set(names).size).toBe(names.length)
})

describe('on a server', () => {
  const redis = useRedis()

  test('a ban knows its client, whatever policies are called', async () => {
    const policies = [
      { name: '{a}', limit: 9, window: '1h' },
      { name: '{b}', limit: 0, window: '1h' },
    ] as const
    const ban = { after: 1, within: '1h', for: ['2h'] } as const
    const options = { ...patient, store: redis.client, policies, ban, prefix: 'named' } as const
    expect((await createLimiter(options).consume('ada')).ban).toBeDefined()
  })

  test('32 policies of every algorithm, with a ban, are one script', async () => {
    const policies = Array.from({ length: 32 }, (_, i) => {
      const name = `policy ${i}`
      if (i % 6 === 5) return { name, concurrent: 5 }
      const algorithm = ALGORITHM_NAMES[i % 6]!
      const own = algorithm === 'leaky-bucket' && { maxDelay: '1m' as const }
      return { name, algorithm, limit: i === 0 ? 2 : 1000, window: '1h' as const, ...own }
    })
    const options = { ...patient, store: redis.client, policies, refusalCache: false } as const
    const limiter = createLimiter({ ...options, ban: { after: 2, within: '1h', for: ['2h'] } })
    const decisions = []
    for (let i = 0; i < 5; i += 1) decisions.push(await limiter.acquire('ada'))
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false, false, false])
    const banned = decisions.map(({ retryAfterMs }) => retryAfterMs > 3_600_000)
    expect(banned).toEqual([false, false, false, true, true])
    // Shown as they are, uncharged by what another policy refuses.
    const shown = decisions[2]!.policies.map(({ remaining }) => remaining)
    expect([...shown.slice(0, 4), shown[5]]).toEqual([0, 998, 998, 998, 3])
    await limiter.settle('ada', -2)
    limiter.close()
  })

  test('a burst of one client, of unequal costs, beside others, is decided in order', async () => {
    const limiter = createLimiter({ ...patient, store: redis.client, limit: 11, window: '1h' })
    // The states are there, so that one command reads them all.
    await Promise.all(['ada', 'bob'].map((key) => limiter.consume(key)))
    const costs = [4, 7, 6, 1]
    const [ada, bob] = ['ada', 'bob'].map((key) =>
      costs.map((cost) => limiter.consume(key, { cost })),
    )
    const remaining = async (all: typeof ada) =>
      (await Promise.all(all!)).map((decision) => [decision.allowed, decision.remaining])
    const expected = [
      [true, 6],
      [false, 6],
      [true, 0],
      [false, 0],
    ]
    expect(await remaining(ada)).toEqual(expected)
    expect(await remaining(bob)).toEqual(expected)
  })

  test('requests of which only some count in ticks share a call', async () => {
    const scripts = await LedgerScripts.load([{ name: 'p', algorithm: sliding }])
    const requests = [charge(sliding), { ...charge(sliding, 1e12, 1e10), key: 'bob' }]
    const { args } = scripts.decide(
      requests.map((each) => [each]),
      onServersClock,
    )
    expect(args).toHaveLength(2 * 4 + 4)
    expect(args.slice(0, 4)).toEqual(['10', '1000', '0', '1'])
  })
})

test('a look writes nothing', async () => {
  const limit = ban.compile({ limit: 3, windowMs: 1000, bansMs: [1000] })
  const charges = [{ key: 'ada', limit, cost: 0 }]
  expect((await varying(...charges)).peek([charges], onServersClock).script.text).not.toContain(
    'SETRANGE',
  )
})
