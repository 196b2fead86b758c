import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from '@jest/globals'
import { OpenMeter } from '@openmeter/sdk'
import { createBudget } from '@sluice/budget'
import { createLimiter, memoryStore } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { rateLimit } from '@sluice/express'
import { type MeterOptions, type MeterRecord, meter } from '@sluice/meter'
import { describeUnless } from '@sluice/test-harness/jest'
import { startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { startRedis, until } from '@sluice/test-harness/redis'
import express from 'express'
import { Redis } from 'ioredis'
import pg from 'pg'
import Stripe from 'stripe'
import request from 'supertest'
import { root } from '../files.ts'
import { toOpenMeter } from './openmeter.ts'
import { TABLE, toPostgres, toReconcile } from './postgres.ts'
import { toStripe } from './stripe.ts'

const NOW = Date.UTC(2026, 0, 10)

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A server that answers what `answer` returns, and refuses the first call of each path after it has taken it. */
async function receive(answer: (path: string, body: never) => object | Promise<object>) {
  const seen = new Map<string, number>()
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk
    const path = incoming.url as string
    const calls = (seen.get(path) ?? 0) + 1
    seen.set(path, calls)
    const body = await answer(path, (text === '' ? {} : JSON.parse(text)) as never)
    // A client repeats by itself what fails with 503, and gives up at 400.
    response.writeHead(calls === 1 ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}` }
}

/** Charges two keys, and sends it until the receiver has taken it. */
async function chargeAndSend(send: MeterOptions['send']): Promise<void> {
  const clock = manualClock(NOW)
  const options = { limit: 1000, window: 'month', unit: 'tokens', reserve: true } as const
  const limiter = createLimiter({ ...options, store: memoryStore({ clock }) })
  const metered = meter(limiter, { every: '1d', send })
  for (const [key, cost] of [
    ['ada', 100],
    ['ben', 20],
    ['ada', 30],
  ] as const)
    await limiter.acquire(key, { cost: 200 }).settle(cost)
  await until(
    () =>
      metered.flush().then(
        () => true,
        () => false,
      ),
    { what: 'all is taken' },
  )
  await metered.close()
}

describe('recipes, with a receiver whose first reply is lost', () => {
  test('Stripe: the stream of meter events', async () => {
    const known = new Map<string, { payload: { stripe_customer_id: string; value: string } }>()
    const { port } = await receive((path, { events = [] }: { events?: never[] }) => {
      for (const each of events as { identifier: string; payload: never }[])
        known.set(each.identifier, each)
      return path.endsWith('meter_event_session')
        ? { object: 'v2.billing.meter_event_session', authentication_token: 'sk_test_session' }
        : {}
    })
    const config = { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0 } as const
    const stripe = new Stripe('sk_test_1', config)
    await chargeAndSend(toStripe(stripe, (key) => `cus_${key}`, config))
    const payloads = [...known.values()].map(({ payload }) => payload)
    expect(payloads).toEqual([
      { stripe_customer_id: 'cus_ada', value: '130' },
      { stripe_customer_id: 'cus_ben', value: '20' },
    ])
  })

  test('OpenMeter: events with an id and a source', async () => {
    const known = new Map<string, { subject: string; data: { units: number }; time: string }>()
    const { url } = await receive((_, events: { id: string; source: string }[]) => {
      for (const each of events) known.set(`${each.source} ${each.id}`, each as never)
      return {}
    })
    await chargeAndSend(toOpenMeter(new OpenMeter({ baseUrl: url, apiKey: 'om_1' })))
    const sums = [...known.values()].map(({ subject, data, time }) => [subject, data.units, time])
    expect(sums).toEqual([
      ['ada', 130, new Date(NOW).toISOString()],
      ['ben', 20, new Date(NOW).toISOString()],
    ])
  })

  const noPostgres = whyNoPostgres()
  describeUnless(noPostgres, 'PostgreSQL', () => {
    async function startTable() {
      const postgres = await startPostgres()
      const pool = new pg.Pool({ connectionString: postgres.url })
      ends.push(
        () => postgres.stop(),
        () => pool.end(),
      )
      // An idle connection ends with the server.
      pool.on('error', () => {})
      await pool.query(TABLE)
      return pool
    }
    const sumsOf = async (pool: pg.Pool) =>
      Object.fromEntries(
        (await pool.query('select key, sum(units)::int as units from usage group by key')).rows.map(
          ({ key, units }) => [key, units],
        ),
      )

    test('a table whose rows are unique by their id', async () => {
      const pool = await startTable()
      const send = toPostgres(pool)
      let isFirst = true
      await chargeAndSend(async (batch) => {
        await send(batch)
        if (isFirst) {
          isFirst = false
          throw new Error('the reply is lost')
        }
      })
      expect(await sumsOf(pool)).toEqual({ ada: 130, ben: 20 })
    })

    test('what a killed process had not sent is found in the store, and charged once', async () => {
      const pool = await startTable()
      const redis = await startRedis()
      const client = new Redis(redis.url)
      ends.push(
        () => redis.stop(),
        () => client.disconnect(),
      )
      const send = toPostgres(pool)
      const { url } = await receive(async (_, batch: MeterRecord[]) => {
        await send(batch)
        return {}
      })
      const code = await bundle(join(__dirname, 'spending.ts'))
      const workers = ['ada', 'ben'].map((key) =>
        startBundle(code, { args: [redis.url, url, key], flags: ['--no-warnings'] }),
      )
      ends.push(() => workers.map((each) => each.kill('SIGKILL')))
      await until(
        async () =>
          Object.values<number>(await sumsOf(pool)).every((sum) => sum > 1000) &&
          Object.keys(await sumsOf(pool)).length === 2,
        {
          what: 'both have sent',
          everyMs: 50,
        },
      )
      for (const each of workers) each.kill('SIGKILL')
      await Promise.all(workers.map((each) => new Promise((resolve) => each.once('exit', resolve))))

      const limiter = createLimiter({
        store: client,
        limit: 1_000_000_000,
        window: 'month',
        prefix: 'sold',
      })
      const metered = meter(limiter, { every: '1d', send })
      ends.push(
        () => limiter.close(),
        () => metered.close(),
      )
      const counted: Record<string, number> = {}
      for await (const { key, units } of metered.counts()) counted[key] = units
      // A batch may still be on its way to the table.
      await until(
        async () =>
          (
            await pool.query('select 1 from pg_stat_activity where state = $1 and query like $2', [
              'active',
              'insert into usage%',
            ])
          ).rows.length === 0,
        { what: 'the table is quiet' },
      )
      const before = await sumsOf(pool)
      const missing = Object.entries(counted).map(([key, units]) => units - (before[key] as number))
      for (const each of missing) expect(each).toBeGreaterThanOrEqual(0)
      if (process.env.SLUICE_FIGURES !== undefined)
        process.stderr.write(
          `counted ${JSON.stringify(counted)}, not sent ${JSON.stringify(missing)}\n`,
        )
      const reconcile = toReconcile(pool, send)
      await reconcile(metered.counts())
      await reconcile(metered.counts())
      expect(await sumsOf(pool)).toEqual(counted)
    })
  })
})

test('a budget is metered on every level, in its integers, by runs too', async () => {
  const budget = createBudget({
    unit: 'usd',
    window: 'month',
    levels: { key: 20, organisation: 500 },
    price: ({ output }) => output / 1000,
  })
  const sums: Record<string, number> = {}
  const metered = meter(budget, {
    every: '1d',
    send: (batch) => {
      for (const { key, policy, units } of batch)
        sums[`${policy} ${key}`] = (sums[`${policy} ${key}`] ?? 0) + units
    },
  })
  const who = { key: 'blue', organisation: 'acme' }
  const call = await budget.reserve(who, { model: 'any', output: 4000 })
  await metered.flush()
  expect(sums).toEqual({})
  await call.settle({ model: 'any', output: 950 })
  const ofRun = await budget
    .run({ id: 'r', max: 2, maxCalls: 5 })
    .reserve(who, { model: 'any', output: 1000 })
  await ofRun.release()
  await metered.close()
  budget.close()
  expect(sums).toMatchObject({
    'key {acme}blue': 1_950_000,
    'organisation {acme}acme': 1_950_000,
    'run {acme}r': 1_000_000,
    'calls {acme}r': 1,
  })
})

test('a middleware is metered with its routes', async () => {
  const sums: Record<string, number> = {}
  const limit = rateLimit({
    limit: 100,
    window: '1d',
    key: () => 'ada',
    routes: { '/costly': { limit: 50, window: '1d', cost: 10, settle: () => 4 } },
  })
  const metered = meter(limit, {
    every: '1d',
    send: (batch) => {
      for (const { units } of batch) sums.units = (sums.units ?? 0) + units
    },
  })
  const app = express()
    .use(limit)
    .use((_, response) => void response.end())
  await request(app).get('/')
  await request(app).get('/costly')
  await until(
    async () => {
      await metered.flush()
      return sums.units === 5
    },
    { what: 'five units are sent' },
  )
  await metered.close()
  limit.limiter.close()
})

test.each(['stripe.ts', 'openmeter.ts', 'postgres.ts'])('the page shows the code of %s', (file) => {
  const page = readFileSync(join(root, 'docs/metering.md'), 'utf8')
  const source = readFileSync(join(__dirname, file), 'utf8')
  const regions = [...source.matchAll(/^ {2}\/\/ #region\n(.*?)^ {2}\/\/ #endregion$/gms)]
  expect(regions).not.toHaveLength(0)
  for (const [, region] of regions)
    expect(page).toContain((region as string).replace(/^ {2}/gm, '').replace(', config)', ')'))
})
