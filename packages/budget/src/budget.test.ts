import { join } from 'node:path'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import { memoryStore, SluiceError } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { postgresStore } from '@sluice/postgres'
import { sqliteStore } from '@sluice/sqlite'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { sqliteDriver, whyNoSqlite } from '@sluice/test-harness/sqlite'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { type BudgetAlert, type BudgetOptions, createBudget, type Usage } from './index.ts'

let redis: RedisServer
let client: Redis

beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.port, redis.host)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})
let testNumber = 0
const opened: { close(): void }[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
  testNumber += 1
})

/** A dollar for a million tokens of input, ten for those of output; what is cached costs a tenth. */
const price = ({
  model,
  input,
  output,
  cached,
}: Usage & { input: number; output: number; cached: number }) =>
  model === 'large' ? (input - cached + cached / 10 + 10 * output) / 1_000_000 : undefined

const who = { key: 'blue', team: 'core', organisation: 'acme' }
const levels = { key: 20, team: 500, organisation: 5000 }
type Levels = keyof typeof levels

function budgetOf(options: Partial<BudgetOptions<Levels>> = {}) {
  const prefix = `test-${testNumber}`
  const budget = createBudget({ unit: 'usd', window: 'month', levels, price, prefix, ...options })
  opened.push(budget)
  return budget
}

describe('in memory', () => behaves())
describe('in Redis', () => behaves(() => client))
describeUnless(whyNoSqlite(), 'in SQLite', () => {
  const { folder } = scratch()
  const driver = sqliteDriver()
  let shared: ReturnType<typeof sqliteStore>
  beforeAll(() => {
    shared = sqliteStore(join(folder, 'budgets.db'), driver && { driver })
  })
  afterAll(() => shared.close())
  behaves(() => shared)
})
describeUnless(whyNoPostgres(), 'in PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  let store: ReturnType<typeof postgresStore>
  beforeAll(async () => {
    server = await startPostgres()
    pool = new Pool({ connectionString: server.url })
    store = postgresStore(pool)
    await store.migrate()
  })
  afterAll(async () => {
    store.close()
    await pool.end()
    await server.stop()
  })
  behaves(() => store)
})

/** @param store one that processes share. Left out: each budget counts for itself */
function behaves(store: () => BudgetOptions['store'] = () => undefined) {
  const spentOf = async (budget: ReturnType<typeof budgetOf>) =>
    Object.fromEntries((await budget.usage(who)).levels.map(({ level, used }) => [level, used]))

  test('reserves on every level, and charges what was used in place of the estimate', async () => {
    const budget = budgetOf({ store: store() })
    const call = await budget.reserve(who, { model: 'large', input: 1200, output: 4000 })
    expect(call).toMatchObject({ allowed: true, reason: undefined, level: 'key', cost: 0.0412 })
    expect(call.remaining).toBe(19.9588)
    expect(await spentOf(budget)).toEqual({ key: 0.0412, team: 0.0412, organisation: 0.0412 })
    await call.settle({ model: 'large', input: 1180, cached: 900, output: 950 })
    await call.settle({ model: 'large', input: 1_000_000 })
    await call.release()
    expect(await spentOf(budget)).toEqual({ key: 0.00987, team: 0.00987, organisation: 0.00987 })
  })

  test('refuses what a level has not left, charges none, and says what would fit', async () => {
    const budget = budgetOf({ store: store(), levels: { key: 20, team: 0.05, organisation: 5000 } })
    const first = await budget.reserve(who, { model: 'large', output: 4000 })
    const refused = await budget.reserve(who, { model: 'large', output: 4000 })
    expect(refused).toMatchObject({ allowed: false, reason: 'budget', level: 'team', cost: 0.04 })
    expect(refused.remaining).toBe(0.01)
    expect(refused.resetMs).toBeGreaterThan(0)
    expect(refused.retryAfterMs).toBe(refused.resetMs)
    await refused.settle({ model: 'large', output: 4000 })
    expect(await spentOf(budget)).toEqual({ key: 0.04, team: 0.04, organisation: 0.04 })
    expect((await budget.fits(who, { model: 'large', output: 1000 })).allowed).toBe(true)
    expect((await budget.fits(who, { model: 'large', output: 1001 })).allowed).toBe(false)
    expect(await spentOf(budget)).toEqual({ key: 0.04, team: 0.04, organisation: 0.04 })
    await first.release()
    expect(await spentOf(budget)).toEqual({ key: 0.04, team: 0.04, organisation: 0.04 })
  })

  test('a run ends at what it may cost and at its calls, in every process', async () => {
    const [one, other] = [budgetOf({ store: store() }), budgetOf({ store: store() })]
    const options = { id: 'run-7', max: '0.1 USD', maxCalls: 3 } as const
    const runs = [one.run(options), (store() === undefined ? one : other).run(options)]
    const reserve = async (i: number, output: number) => {
      const { allowed, level, remaining } = await (runs[i] as (typeof runs)[0]).reserve(who, {
        model: 'large',
        output,
      })
      return { allowed, level, remaining }
    }
    expect(await reserve(0, 6000)).toEqual({ allowed: true, level: 'run', remaining: 0.04 })
    expect(await reserve(1, 6000)).toEqual({ allowed: false, level: 'run', remaining: 0.04 })
    expect(await reserve(1, 100)).toMatchObject({ allowed: true })
    expect(await reserve(0, 100)).toMatchObject({ allowed: true })
    expect(await reserve(1, 100)).toMatchObject({ allowed: false, level: 'calls' })
    expect((await one.reserve(who, { model: 'large', output: 6000 })).allowed).toBe(true)
    const shown = (await runs[0]?.usage(who))?.levels ?? []
    expect(shown.map(({ level, used }) => [level, used])).toEqual([
      ['key', 0.122],
      ['team', 0.122],
      ['organisation', 0.122],
      ['run', 0.062],
      ['calls', 3],
    ])
  })

  test('each run counts by itself, by its own limits', async () => {
    const budget = budgetOf({ store: store() })
    const runs = [1, 2].map((maxCalls) => budget.run({ id: `task-${maxCalls}`, max: 1, maxCalls }))
    const ask = { model: 'large', output: 100 }
    const seen: boolean[] = []
    for (const run of [...runs, ...runs, ...runs]) seen.push((await run.reserve(who, ask)).allowed)
    expect(seen).toEqual([true, true, false, true, false, false])
  })

  test('a run inside a run counts in both', async () => {
    const budget = budgetOf({ store: store() })
    const outer = budget.run({ id: 'task', max: 0.1, maxCalls: 3 })
    const inner = outer.run({ id: 'step', max: 0.05 })
    const ask = (output: number) => ({ model: 'large', output })
    expect(await inner.reserve(who, ask(4000))).toMatchObject({ allowed: true, remaining: 0.01 })
    expect(await inner.reserve(who, ask(2000))).toMatchObject({ allowed: false, remaining: 0.01 })
    expect((await outer.reserve(who, ask(5000))).allowed).toBe(true)
    const { levels } = await outer.run({ id: 'other', max: 1, maxCalls: 9 }).usage(who)
    expect(levels.slice(3).map(({ level, used, limit }) => [level, used, limit])).toEqual([
      ['run', 0, 1],
      ['calls', 0, 9],
      ['run', 0.09, 0.1],
      ['calls', 2, 3],
    ])
    const refused = await outer.run({ id: 'other', max: 1 }).reserve(who, ask(2000))
    expect(refused).toMatchObject({ allowed: false, level: 'run', remaining: 0.01 })
    expect((await inner.usage(who)).levels.slice(3).map(({ used }) => used)).toEqual([
      0.04, 0.09, 2,
    ])
  })

  test('the 1,001st call at once hears that there are too many, and what is left', async () => {
    const budget = budgetOf({
      deadline: patient.deadline,
      store: store(),
      levels: { key: 1000, team: 500, organisation: 5000 },
    })
    const ask = { model: 'large', output: 100 }
    const calls = await Promise.all(Array.from({ length: 1000 }, () => budget.reserve(who, ask)))
    expect(calls.every(({ allowed }) => allowed)).toBe(true)
    const refused = await budget.reserve(who, ask)
    expect(refused).toMatchObject({ allowed: false, reason: 'busy', level: 'key', cost: 0.001 })
    expect(refused).toMatchObject({ remaining: 499, retryAfterMs: 1000 })
    expect(refused.levels.map(({ used }) => used)).toEqual([1, 1, 1])
    expect(await spentOf(budget)).toEqual({ key: 1, team: 1, organisation: 1 })
    const body = JSON.stringify({ model: 'large', messages: [], max_tokens: 100 })
    const sent = jest.fn<typeof fetch>()
    const url = 'https://api.example/v1/chat/completions'
    const response = await budget.fetch(who, sent)(url, { method: 'POST', body })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
    expect(response.headers.get('x-should-retry')).toBeNull()
    expect(await response.json()).toMatchObject({ error: { code: 'budget_busy' } })
    await calls[0]?.cancel()
    expect((await budget.reserve(who, ask)).allowed).toBe(true)
  })

  test('the calls of a process that dies stay counted, though what they have reserved comes back', async () => {
    const clock = manualClock(Date.UTC(2026, 10, 23, 12))
    const store = memoryStore({ clock })
    const runOf = (budget: ReturnType<typeof budgetOf>) =>
      budget.run({ id: 'run-7', max: '0.1 USD', maxCalls: 3 })
    const dying = budgetOf({ store })
    await runOf(dying).reserve(who, { model: 'large', output: 6000 })
    dying.close()
    clock.advance(86_400_000)
    const { levels } = await runOf(budgetOf({ store })).usage(who)
    expect(levels.slice(-2).map(({ level, used }) => [level, used])).toEqual([
      ['run', 0],
      ['calls', 1],
    ])
  })

  test('a level that a client does not have is null, and the others count the same', async () => {
    const budget = budgetOf({ store: store() })
    const alone = { ...who, team: null }
    expect((await budget.reserve(alone, { model: 'large', output: 1000 })).levels).toHaveLength(2)
    expect(await spentOf(budget)).toEqual({ key: 0.01, team: 0, organisation: 0.01 })
  })

  test('settle charges what nobody has reserved, into debt', async () => {
    const budget = budgetOf({ store: store() })
    await budget.settle(who, { model: 'large', output: 3_000_000 })
    expect(await spentOf(budget)).toEqual({ key: 30, team: 30, organisation: 30 })
    expect((await budget.reserve(who, { model: 'large', output: 0 })).allowed).toBe(false)
  })

  test('what a wrong price has charged is seen, in alerts too, and corrected', async () => {
    const alerts: number[] = []
    const onAlert = ({ level, used }: BudgetAlert) => level === 'key' && alerts.push(used)
    const budget = budgetOf({ store: store(), alertAt: [1], onAlert })
    await budget.settle(who, { model: 'large', output: 100_000_000 })
    expect(alerts).toEqual([1000])
    await budget.override(who, { level: 'key', limit: 40 })
    const usage = await budget.usage(who)
    expect(usage.levels[0]).toMatchObject({ limit: 40, used: 1000, remaining: 0 })
    await budget.correct(who, -995)
    expect(await spentOf(budget)).toEqual({ key: 5, team: 5, organisation: 5 })
    await budget.correct(who, 1)
    await budget.correct(who, -1000)
    expect(await spentOf(budget)).toEqual({ key: 0, team: 0, organisation: 0 })
    const negative = budget.settle(who, { model: 'large', output: -5 })
    await expect(negative).rejects.toThrow('numbers from 0 on')
    await expect(budget.correct(who, '5' as never)).rejects.toThrow('amount')
  })

  test('a client has a budget and top-ups of its own on a level, and what it has spent stays', async () => {
    const budget = budgetOf({ store: store(), levels: { key: 20, team: 0.02, organisation: 5000 } })
    const ask = { model: 'large', output: 1000 }
    const team = async () => (await budget.usage(who)).levels[1]
    for (let i = 0; i < 2; i += 1) await budget.reserve(who, ask)
    expect((await budget.reserve(who, ask)).level).toBe('team')
    expect(await budget.grant(who, 0.01, { level: 'team', id: 'order 1' })).toBe(true)
    expect(await budget.grant(who, 0.01, { level: 'team', id: 'order 1' })).toBe(false)
    expect(await team()).toMatchObject({ limit: 0.03, used: 0.02, remaining: 0.01 })
    const open = await budget.reserve(who, ask)
    expect(open.allowed).toBe(true)
    await budget.override(who, { level: 'team', limit: 0.05 })
    expect(await team()).toMatchObject({ limit: 0.06, used: 0.03 })
    await open.settle({ model: 'large', output: 500 })
    expect(await team()).toMatchObject({ limit: 0.06, used: 0.025 })
    await budget.override(who, { level: 'team', limit: 0 })
    expect(await team()).toMatchObject({ limit: 0.01, remaining: 0 })
    await budget.override(who, { level: 'team', limit: null })
    expect(await team()).toMatchObject({ limit: 0.03, used: 0.025 })
    // It is that of no other client, and of no other level.
    const other = await budget.usage({ ...who, team: 'other' })
    expect(other.levels.map(({ limit }) => limit)).toEqual([20, 0.02, 5000])
    // A run counts in it too.
    await budget.override(who, { level: 'key', limit: 1 })
    const run = budget.run({ id: 'run', max: 5 })
    expect((await run.usage(who)).levels.map(({ limit }) => limit)).toEqual([1, 0.03, 5000, 5])
  })

  test('two hundred estimates at the same moment never admit more than fits', async () => {
    const budget = budgetOf({ store: store(), levels: { key: 1000, team: 1, organisation: 5000 } })
    const all = Array.from({ length: 200 }, (_, i) =>
      budget.reserve({ ...who, key: `key-${i}` }, { model: 'large', output: 3000 }),
    )
    const calls = await Promise.all(all)
    expect(calls.filter(({ allowed }) => allowed)).toHaveLength(33)
    await Promise.all(calls.map((call) => call.settle({ model: 'large', output: 1000 })))
    const { levels: shown } = await budget.usage(who)
    expect(shown.map(({ used }) => used)).toEqual([0, 0.33, 0.33])
  })

  test('a soft budget refuses nothing, and alerts at each share once', async () => {
    const alerts: unknown[] = []
    const budget = budgetOf({
      store: store(),
      soft: true,
      levels: { key: 1, team: 500, organisation: 5000 },
      onAlert: ({ level, id, share, used, limit }) => alerts.push([level, id, share, used, limit]),
    })
    for (let i = 0; i < 3; i += 1) {
      const call = await budget.reserve(who, { model: 'large', output: 50_000 })
      expect(call.allowed).toBe(true)
      await call.settle({ model: 'large', output: 45_000 })
    }
    expect(alerts).toEqual([
      ['key', 'blue', 0.8, 0.95, 1],
      ['key', 'blue', 1, 1.4, 1],
    ])
    expect(await spentOf(budget)).toEqual({ key: 1.35, team: 1.35, organisation: 1.35 })
  })
}

describe('money', () => {
  test.each([
    ['a sum whose double has noise', 0.1 + 0.2, 0.3],
    ['less than a millionth, rounded up', 0.000_000_000_1, 0.000_001],
    ['many digits', 0.003_54, 0.003_54],
    ['nothing: a millionth while it is open', 0, 0.000_001],
  ])('%s', async (_, cost, shown) => {
    const call = await budgetOf({ price: () => cost }).reserve(who, { model: 'any', input: 1 })
    expect(call.cost).toBe(shown)
  })

  test('a thousand prices of a third of a cent are exact to the millionth', async () => {
    const budget = budgetOf({ price: () => 0.003_333 })
    for (let i = 0; i < 1000; i += 1) await budget.settle(who, { model: 'any', input: 1 })
    expect((await budget.usage(who)).levels[1]?.used).toBe(3.333)
  })

  test('tokens are counted one by one, and have a price of their own', async () => {
    const budget = createBudget({ unit: 'tokens', window: 'day', levels: { user: 1000 } })
    opened.push(budget)
    const call = await budget.reserve({ user: 'ada' }, { model: 'any', input: 100, output: 400 })
    expect(call).toMatchObject({ cost: 500, remaining: 500 })
    await call.settle({ model: 'any', input: 90, output: 10 })
    expect((await budget.usage({ user: 'ada' })).remaining).toBe(900)
  })
})

describe('what is no usage', () => {
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  afterAll(() => emitted.mockRestore())

  test.each([
    ['NaN', () => Number.NaN],
    ['below zero', () => -0.01],
    ['infinite', () => Infinity],
    ['missing', () => undefined],
    ['text', () => '0.01' as never],
    ['a promise', (async () => 0.01) as never],
    [
      'a function that throws',
      () => {
        throw new Error('no such model')
      },
    ],
  ])('a price that is %s refuses the call, and does not make it free', async (_, wrong) => {
    const budget = budgetOf({ price: wrong })
    const call = await budget.reserve(who, { model: 'new', input: 1 })
    expect(call).toMatchObject({ allowed: false, reason: 'price', retryAfterMs: Infinity })
    expect((await budget.fits(who, { model: 'new', input: 1 })).allowed).toBe(false)
    await expect(budget.settle(who, { model: 'new', input: 1 })).rejects.toThrow(SluiceError)
  })

  test.each<[string, object]>([
    ['no numbers', { model: 'large' }],
    ['NaN', { model: 'large', output: Number.NaN }],
    ['numbers below zero', { model: 'large', output: 10, input: -1_000_000 }],
    ['text', { model: 'large', output: '10' }],
    ['no model', { output: 10 }],
    ['another model, without a price', { model: 'new', output: 10 }],
  ])('usage with %s is refused, and afterwards costs the estimate', async (_, usage) => {
    const budget = budgetOf()
    expect((await budget.reserve(who, usage as Usage)).allowed).toBe(false)
    const call = await budget.reserve(who, { model: 'large', output: 1000 })
    await call.settle(usage as Usage)
    expect((await budget.usage(who)).levels[0]?.used).toBe(0.01)
  })
})

describe('who pays', () => {
  test.each<[string, object]>([
    ['a level is missing', { key: 'blue', organisation: 'acme' }],
    ['an id is empty', { ...who, team: '' }],
    ['an id is an object', { ...who, team: {} }],
    ['there is no level', { key: null, team: null, organisation: null }],
  ])('%s: an error, never free', async (_, wrong) => {
    await expect(
      budgetOf().reserve(wrong as typeof who, { model: 'large', output: 1 }),
    ).rejects.toMatchObject({
      code: 'SLUICE_OPTION_VALUE',
    })
  })

  test.each<[string, (budget: ReturnType<typeof budgetOf>) => Promise<unknown>]>([
    ['no level', (budget) => budget.override(who, { limit: 5 } as never)],
    ['an unknown level', (budget) => budget.grant(who, 5, { level: 'user' as never })],
    [
      'a level that it does not have',
      (budget) => budget.grant({ ...who, team: null }, 5, { level: 'team' }),
    ],
    ['an amount below zero', (budget) => budget.grant(who, -5, { level: 'team' })],
    ['NaN', (budget) => budget.override(who, { level: 'team', limit: Number.NaN })],
    [
      'a time that has passed',
      (budget) => budget.override(who, { level: 'team', limit: 5, until: 5 }),
    ],
    [
      'an unknown option',
      (budget) => budget.override(who, { level: 'team', limit: 5, til: 5 } as never),
    ],
    ['somebody without an id', (budget) => budget.grant({ ...who, key: '' }, 5, { level: 'team' })],
  ])('an own budget with %s is an error', async (_, act) => {
    await expect(act(budgetOf())).rejects.toBeInstanceOf(SluiceError)
  })

  test('ids that look like shards, digests or keys of others are ids', async () => {
    const budget = budgetOf()
    for (const id of ['{acme}blue', 'acme}blue', '#x', '%', 'a'.repeat(2000), '\u0000'])
      await budget.settle({ key: id, team: id, organisation: id }, { model: 'large', output: 1000 })
    expect((await budget.usage(who)).levels.map(({ used }) => used)).toEqual([0, 0, 0])
  })

  test('the same id on several levels is counted on each', async () => {
    const budget = budgetOf()
    const same = { key: 'acme', team: 'acme', organisation: 'acme' }
    await budget.settle(same, { model: 'large', output: 1000 })
    expect((await budget.usage(same)).levels.map(({ used }) => used)).toEqual([0.01, 0.01, 0.01])
  })

  test('own limits: a function of the id, which may raise them at any time', async () => {
    let own = 0.01
    const limit = async (id: string, level: string) => (id === 'blue' && level === 'key' ? own : 1)
    const budget = budgetOf({ levels: { key: limit, team: limit, organisation: 5000 } })
    expect((await budget.reserve(who, { model: 'large', output: 1000 })).allowed).toBe(true)
    expect((await budget.reserve(who, { model: 'large', output: 1000 })).level).toBe('key')
    own += 0.01
    expect((await budget.reserve(who, { model: 'large', output: 1000 })).allowed).toBe(true)
    own = Number.NaN
    await expect(budget.reserve(who, { model: 'large', output: 1 })).rejects.toThrow(SluiceError)
  })

  test('top-ups: a function that adds them; what was spent stays, and so does what others have', async () => {
    const bought = new Map([['core', 0]])
    const budget = budgetOf({
      store: client,
      levels: { key: 20, team: (id) => 0.01 + (bought.get(id) ?? 0), organisation: () => 0.03 },
    })
    const ask = { model: 'large', output: 1000 }
    expect((await budget.reserve(who, ask)).allowed).toBe(true)
    expect((await budget.reserve(who, ask)).level).toBe('team')
    bought.set('core', 0.05)
    const call = await budget.reserve(who, ask)
    expect(call.levels.map(({ limit, used }) => [limit, used])).toEqual([
      [20, 0.02],
      [0.06, 0.02],
      [0.03, 0.02],
    ])
    const other = { ...who, team: 'other' }
    expect((await budget.fits(other, ask)).levels[1]).toMatchObject({ limit: 0.01, used: 0.01 })
    expect((await budget.reserve(who, ask)).allowed).toBe(true)
    expect((await budget.reserve(who, ask)).level).toBe('organisation')
  })

  test('a thousand keys of one team in one second: none is shut out by another, and the team is bounded', async () => {
    const budget = budgetOf({ store: client })
    const calls = await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        budget.reserve({ ...who, key: `key-${i}` }, { model: 'large', output: 1 }),
      ),
    )
    expect(calls.every(({ allowed }) => allowed)).toBe(true)
    await Promise.all(calls.map((call) => call.settle({ model: 'large', output: 1 })))
    expect((await budget.usage(who)).levels[1]?.used).toBe(0.01)
  })
})

test.each([
  ['returned', 80_000],
  ['charged', 10_000],
] as const)('a store that lost the charges of two calls, lost: %s', async (lost, used) => {
  const budget = budgetOf({ store: client, lost })
  const calls = [
    await budget.reserve(who, { model: 'large', input: 50_000 }),
    await budget.reserve(who, { model: 'large', input: 50_000 }),
  ]
  await client.flushall()
  await calls[0]?.settle({ model: 'large', input: 20_000 })
  await calls[1]?.settle({ model: 'large', input: 60_000 })
  expect((await budget.usage(who)).levels[0]?.used).toBe(used / 1_000_000)
})

describe('time', () => {
  const month = Date.UTC(2026, 0, 31, 23, 59, 0)

  test('a month that ends during a stream: its estimate was the old month’s, and so is what it gives back', async () => {
    const clock = manualClock(month)
    const budget = budgetOf({ store: memoryStore({ clock }), hold: '1h' })
    const call = await budget.reserve(who, { model: 'large', output: 1_000_000 })
    clock.advance(120_000)
    expect((await budget.usage(who)).levels[0]?.used).toBe(0)
    await call.settle({ model: 'large', output: 10 })
    expect((await budget.usage(who)).levels[0]?.used).toBe(0)
  })

  test.each([{}, { lost: 'charged' }, { soft: true }] as const)(
    'what it has used more than its estimate is charged to the new month: %j',
    async (options) => {
      const clock = manualClock(month)
      const budget = budgetOf({ store: memoryStore({ clock }), hold: '1h', ...options })
      const call = await budget.reserve(who, { model: 'large', output: 1000 })
      clock.advance(120_000)
      await call.settle({ model: 'large', output: 3000 })
      expect((await budget.usage(who)).levels[0]?.used).toBe(0.02)
    },
  )

  test('a clock that steps back or forward neither frees nor doubles what was spent', async () => {
    const clock = manualClock(month - 86_400_000)
    const budget = budgetOf({ store: memoryStore({ clock }) })
    await budget.settle(who, { model: 'large', output: 1_000_000 })
    clock.advance(-3_600_000)
    const call = await budget.reserve(who, { model: 'large', output: 500_000 })
    expect(call).toMatchObject({ allowed: true, remaining: 5 })
    clock.advance(7_200_000)
    await call.settle({ model: 'large', output: 500_000 })
    expect((await budget.usage(who)).remaining).toBe(5)
  })

  test('a run has its whole budget for three days, whenever it begins, and no more', async () => {
    for (let hour = 0; hour < 24 * 7; hour += 6) {
      const clock = manualClock(month + hour * 3_600_000)
      const budget = budgetOf({ store: memoryStore({ clock }) })
      const run = budget.run({ id: `${hour}`, max: 1, maxCalls: 1000 })
      let admitted = 0
      for (let i = 0; i < 71; i += 1) {
        const call = await run.reserve(who, { model: 'large', output: 5000 })
        await call.release()
        if (call.allowed) admitted += 1
        clock.advance(3_600_000)
      }
      expect([hour, admitted]).toEqual([hour, 20])
    }
  })
})

describe('a stream of fetch', () => {
  const EVENT = 'data: {"choices":[{"delta":{}}]}\n\n'
  const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'
  let clock: ReturnType<typeof manualClock>
  let budget: ReturnType<typeof budgetOf>
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'Date'] })
    clock = manualClock(Date.UTC(2026, 0, 1))
    const levels = { key: 500, team: 500, organisation: 5000 }
    const store = memoryStore({ clock })
    budget = budgetOf({ unit: 'tokens', price: undefined, levels, hold: '3s', store })
  })
  afterEach(() => void jest.useRealTimers())

  const spent = async () => (await budget.usage(who)).levels[0]?.used

  async function pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i += 1) {
      clock.advance(1000)
      jest.advanceTimersByTime(1000)
      await new Promise(setImmediate)
    }
  }

  function ask(provider: typeof fetch, signal?: AbortSignal): Promise<Response> {
    const body = JSON.stringify({ model: 'large', stream: true, max_tokens: 40, messages: [] })
    const url = 'https://api.example/v1/chat/completions'
    return budget.fetch(who, provider)(url, { method: 'POST', body, signal: signal ?? null })
  }

  async function begin() {
    let send: (event: string | null) => void = () => {}
    const body = new ReadableStream({
      start(to) {
        send = (event) =>
          event === null ? to.close() : to.enqueue(new TextEncoder().encode(event))
      },
    })
    const headers = { 'content-type': 'text/event-stream' }
    const response = await ask(async () => new Response(body, { headers }))
    send(EVENT)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(EVENT)
    return { send, reader, estimate: await spent() }
  }

  test('costs what it has used, however long the model is silent, once it has been asked for more', async () => {
    const { send, reader } = await begin()
    await pass(2)
    const rest = reader.read()
    await pass(12)
    send(USAGE)
    send(null)
    expect((await rest).done).toBe(true)
    expect(await spent()).toBe(12)
  })

  test('that ends early with a part of its usage costs its estimate, or that part if it is more', async () => {
    const part = (used: number) =>
      `data: {"choices":[{"finish_reason":null}],"usage":{"prompt_tokens":5,"completion_tokens":${used}}}\n\n`
    for (const used of [2, 200]) {
      const before = (await spent()) ?? 0
      const { send, reader, estimate = 0 } = await begin()
      send(part(used))
      send(null)
      while (!(await reader.read()).done);
      expect(await spent()).toBe(Math.max(estimate, before + 5 + used))
    }
  })

  test('costs its estimate if its reader has stopped for hold, also when it reads on later', async () => {
    const { send, reader, estimate } = await begin()
    await pass(12)
    expect(await spent()).toBe(estimate)
    send(USAGE)
    send(null)
    expect((await reader.read()).done).toBe(true)
    expect(await spent()).toBe(estimate)
  })

  test('that the application aborts is aborted at the provider, and costs its estimate', async () => {
    const leaving = new AbortController()
    const provider = (_: unknown, { signal }: RequestInit = {}) =>
      new Promise<Response>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    const call = ask(provider, leaving.signal)
    while ((await spent()) === 0) await new Promise(setImmediate)
    const estimate = await spent()
    leaving.abort(new Error('mine'))
    await expect(call).rejects.toThrow('mine')
    expect(await spent()).toBe(estimate)
  })
})

describe('options', () => {
  test.each<[string, object, string]>([
    ['an unknown one', { limit: 5 }, 'SLUICE_OPTION_UNKNOWN'],
    ['no level', { levels: {} }, 'SLUICE_OPTION_VALUE'],
    ['a level named run', { levels: { run: 5 } }, 'SLUICE_OPTION_VALUE'],
    ['a limit that is text', { levels: { key: '20' } }, 'SLUICE_OPTION_VALUE'],
    ['a limit of NaN', { levels: { key: Number.NaN } }, 'SLUICE_OPTION_VALUE'],
    ['a limit below zero', { levels: { key: -1 } }, 'SLUICE_OPTION_VALUE'],
    ['a limit beyond 2^53 millionths', { levels: { key: 1e10 } }, 'SLUICE_OPTION_VALUE'],
    ['a unit that is none', { unit: 'Dollars' }, 'SLUICE_OPTION_VALUE'],
    ['no price', { price: undefined }, 'SLUICE_OPTION_TYPE'],
    ['no window', { window: undefined }, 'SLUICE_OPTION_TYPE'],
    ['a most of output that is text', { maxOutput: '4096' }, 'SLUICE_OPTION_TYPE'],
    ['a most of output of 0', { maxOutput: 0 }, 'SLUICE_OPTION_RANGE'],
    ['a most of output of half a token', { maxOutput: 1.5 }, 'SLUICE_OPTION_RANGE'],
    ['a most of output of NaN', { maxOutput: Number.NaN }, 'SLUICE_OPTION_RANGE'],
    ['a most of output without end', { maxOutput: Infinity }, 'SLUICE_OPTION_RANGE'],
  ])('%s', (_, options, code) => {
    expect(() => budgetOf(options)).toThrow(expect.objectContaining({ code }) as never)
  })

  test.each<[string, object]>([
    ['nothing', { id: 'a' }],
    ['no id', { max: 1 }],
    ['another currency', { id: 'a', max: '2 EUR' }],
    ['NaN', { id: 'a', max: Number.NaN }],
    ['half a call', { id: 'a', maxCalls: 1.5 }],
  ])('a run with %s', (_, options) => {
    expect(() => budgetOf().run(options as never)).toThrow(SluiceError)
  })

  test('while the store is down, a call is refused: nobody knows what is left', async () => {
    const lost = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => null })
    lost.on('error', () => {})
    const budget = budgetOf({ store: lost, deadline: '50ms' })
    const call = await budget.reserve(who, { model: 'large', output: 1 })
    expect(call).toMatchObject({ allowed: false, reason: 'store', level: undefined })
    await call.settle({ model: 'large', output: 1 })
  })
})
