// Four processes limit while a fifth one changes their limit.

import { afterEach, describe, expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/core'
import { postgresStore } from '@sluice/postgres'
import { describeUnless } from '@sluice/test-harness/jest'
import { startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import {
  hashSlotOf,
  patient,
  type RedisServer,
  startCluster,
  startRedis,
  startSentinel,
  until,
} from '@sluice/test-harness/redis'
import { Cluster, Redis } from 'ioredis'
import { Pool } from 'pg'
import { LimitingProcess } from './limiting-process.ts'

const PROCESSES = 4
const CHANGES = 40
const TERMS = { limit: 30, max: 200, deadline: 1000 }

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** The fifth process: this one. */
function writerOn(store: object): Limiter<'async'> {
  const { limit } = TERMS
  const options = { limit, window: '365d', algorithm: 'fixed-window', name: 'api' } as const
  const writer = createLimiter({ ...patient, ...options, store, live: true } as never)
  ends.push(() => (writer as Limiter).close())
  return writer as unknown as Limiter<'async'>
}

async function start(url: string, terms: object = {}): Promise<LimitingProcess> {
  const started = await LimitingProcess.start({ url, ...TERMS, ...terms })
  ends.push(() => started.stop())
  return started
}

/** The limits that have been in force, each another one. */
class History {
  readonly limits = [TERMS.limit]

  /** 20 … 119, in no order. */
  next(): number {
    const limit = 20 + ((this.limits.length * 37) % 100)
    this.limits.push(limit)
    return limit
  }

  /** The limits that may be in force in processes that have at least these. */
  since(known: readonly (number | undefined)[]): number[] {
    const first = known.map((limit) => Math.max(0, this.limits.lastIndexOf(limit ?? TERMS.limit)))
    return this.limits.slice(Math.min(...first))
  }
}

let clients = 0

/** All processes take what a new client gets, and nobody more than the limits in force allow. */
async function exhaust(processes: readonly LimitingProcess[], history: History): Promise<void> {
  clients += 1
  const key = `client ${clients}`
  const known = processes.map(({ limits }) => limits.at(-1))
  const reports = await Promise.all(processes.map((each) => each.exhaust(key)))
  const admitted = reports.reduce((sum, each) => sum + each.admitted, 0)
  const limits = reports.flatMap((each) => each.limits)
  const inForce = history.since(known)
  expect(limits.filter((limit) => !inForce.includes(limit))).toEqual([])
  expect(admitted).toBeGreaterThanOrEqual(Math.min(...limits))
  expect(admitted).toBeLessThanOrEqual(Math.max(...limits))
  for (const { slowestMs, stalledMs } of reports)
    expect(slowestMs - stalledMs).toBeLessThanOrEqual(TERMS.deadline)
}

/** Changes the limit again and again while clients come. */
async function underChanges(
  processes: readonly LimitingProcess[],
  writer: Limiter<'async'>,
  history: History,
): Promise<void> {
  for (let i = 0; i < CHANGES; i += 1) {
    await Promise.all([
      writer.policies.set('api', { limit: history.next() }),
      exhaust(processes, history),
    ])
    // From time to time all have it.
    const limit = history.limits.at(-1) as number
    if (i % 10 === 9) await Promise.all(processes.map((each) => each.has(limit)))
  }
}

describe('on Redis', () => {
  test('every admission is within the limits in force, also after Redis was away', async () => {
    const redis = await startRedis()
    ends.push(() => redis.stop())
    const client = new Redis(redis.url, { retryStrategy: () => 20 })
    client.on('error', () => {})
    ends.push(() => client.disconnect())
    const writer = writerOn(client)
    const history = new History()
    const processes = await Promise.all(Array.from({ length: PROCESSES }, () => start(redis.url)))
    await underChanges(processes, writer, history)

    // Without Redis, each has what was known last.
    const limit = history.limits.at(-1) as number
    await redis.command('SAVE')
    await redis.kill()
    const alone = await Promise.all(processes.map((each) => each.exhaust('while it is away')))
    for (const { limits, sources, slowestMs, stalledMs } of alone) {
      expect(limits).toEqual([limit])
      expect(sources).not.toContain('store')
      expect(slowestMs - stalledMs).toBeLessThanOrEqual(TERMS.deadline)
    }
    await redis.restart({ keepData: true })
    await until(
      async () => {
        clients += 1
        const reports = await Promise.all(
          processes.map((each) => each.exhaust(`client ${clients}`)),
        )
        return reports.every(({ sources }) => sources.includes('store'))
      },
      { what: 'Redis decides again' },
    )
    const next = history.next()
    await writer.policies.set('api', { limit: next })
    await Promise.all(processes.map((each) => each.has(next)))
    await exhaust(processes, history)
  })

  test('a process with narrower bounds keeps its limit, and warns', async () => {
    const redis = await startRedis()
    ends.push(() => redis.stop())
    const client = new Redis(redis.url)
    ends.push(() => client.disconnect())
    const writer = writerOn(client)
    const [wide, narrow] = await Promise.all([start(redis.url), start(redis.url, { max: 50 })])
    await writer.policies.set('api', { limit: 40 })
    await Promise.all([wide.has(40), narrow.has(40)])
    // A limit above its bounds, which `set` in a process that knows them would refuse.
    await writer.policies.set('api', { limit: 60, alertAt: [0.5] })
    await wide.has(60)
    await until(() => narrow.warnings.includes('SLUICE_POLICY_DOCUMENT'), { what: 'it warns' })
    expect((await narrow.exhaust('ada')).limits).toEqual([40])
    await writer.policies.set('api', { limit: 45 })
    await Promise.all([wide.has(45), narrow.has(45)])
  })
})

/** A deployment of Redis, of which the master that has the document can be killed. */
interface Deployment {
  connect(): Cluster | Redis
  readonly master: RedisServer
}

async function ofCluster(): Promise<Deployment> {
  const nodes = await startCluster({ replicasPerMaster: 1, nodeTimeoutMs: 1000 })
  ends.push(() => nodes.stop())
  const place = Math.floor(((await hashSlotOf(nodes, '{#}')) * 3) / 16_384)
  const addresses = nodes.nodes.map(({ host, port }) => ({ host, port }))
  const options = { redisOptions: { disconnectTimeout: 0 }, slotsRefreshInterval: 500 }
  return {
    connect: () => new Cluster(addresses, options),
    master: nodes.masters[place] as RedisServer,
  }
}

async function ofSentinel(): Promise<Deployment> {
  const { name, master, sentinels, stop } = await startSentinel()
  ends.push(stop)
  const addresses = sentinels.map(({ host, port }) => ({ host, port }))
  return { connect: () => new Redis({ sentinels: addresses, name, disconnectTimeout: 0 }), master }
}

test.each([
  ['a cluster', ofCluster],
  ['Sentinel', ofSentinel],
])(
  'a change during a failover of %s is made once, or rejected, and reaches all',
  async (_, deploy) => {
    const { connect, master } = await deploy()
    const open = () => {
      const client = connect()
      client.on('error', () => {})
      ends.push(() => client.disconnect())
      return writerOn(client)
    }
    const [writer, other] = [open(), open()]
    await writer.policies.set('api', { limit: 40 })
    const isReplicated = async () => Number(await master.command('WAIT', 1, 100)) === 1
    await until(isReplicated, { what: 'the replica has the document' })
    await master.kill()
    const set = async () => {
      try {
        await writer.policies.set('api', { limit: 50 }, { seen: 1 })
        return true
      } catch (error) {
        // What was made, though its answer was lost, is not made again.
        if ((error as { code: string }).code === 'SLUICE_POLICY_CHANGED') return true
        expect(error).toMatchObject({ code: expect.stringMatching(/^SLUICE_/) })
        return false
      }
    }
    expect((await writer.peek('ada')).limit).toBe(40)
    await until(set, { what: 'the replica takes the change' })
    for (const each of [writer, other])
      await until(async () => (await each.peek('ada')).limit === 50, { what: 'all have it' })
    expect((await other.policies.history()).map(({ number }) => number)).toEqual([2, 1])
  },
)

describeUnless(whyNoPostgres(), 'on PostgreSQL', () => {
  test('every admission is within the limits in force', async () => {
    const server = await startPostgres()
    ends.push(() => server.stop())
    const pool = new Pool({ connectionString: server.url })
    ends.push(() => pool.end())
    const store = postgresStore(pool)
    await store.migrate()
    const writer = writerOn(store)
    const processes = await Promise.all(Array.from({ length: PROCESSES }, () => start(server.url)))
    await underChanges(processes, writer, new History())
  })
})
