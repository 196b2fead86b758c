import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { memoryStore, type RateLimitOptions } from '@sluice/express'
import { useRedis } from '@sluice/test-harness/jest'
import { type RedisCluster, startCluster, until } from '@sluice/test-harness/redis'
import express, { type RequestHandler } from 'express'
import { Cluster } from 'ioredis'
import request from 'supertest'
import { money, type Payer } from './money.ts'

const redis = useRedis()
let cluster: RedisCluster
let clusterClient: Cluster
beforeAll(async () => {
  cluster = await startCluster()
  clusterClient = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
})
afterAll(async () => {
  clusterClient.disconnect()
  await cluster.stop()
})

const ada: Payer = {
  key: 'key-1',
  user: 'ada',
  team: 'search',
  organisation: 'acme',
  budget: 9_007_199_254_740_991,
}
/** Input of about 1000 tokens. */
const body = { model: 'large', messages: 'word'.repeat(1000), max_tokens: 2000 }
/** 1000 × 3 + 2000 × 15 micro-dollars. */
const ESTIMATE = 33_000

const stores: Record<string, () => RateLimitOptions['store']> = {
  memory: () => memoryStore(),
  Redis: () => redis.client,
  'a Redis Cluster': () => clusterClient,
}

describe.each(Object.entries(stores))('on %s', (_, storeOf) => {
  const payers: Payer[] = []
  afterEach(() => void payers.splice(0))

  /** The answer is a stream of two chunks; its usage is known at its end. */
  const stream: RequestHandler = async (_, response) => {
    response.write('once upon ')
    await new Promise((resolve) => setImmediate(resolve))
    response.locals.usage = { input: 900, output: 100 }
    response.end('a time')
  }

  async function serve(prefix: string) {
    const app = express().use(express.json())
    app.use((req, _, next) => {
      Object.assign(req, { payer: { ...ada, ...JSON.parse(req.get('x-payer') ?? '{}') } })
      next()
    })
    const payerOf = (req: unknown) => {
      const { payer } = req as { payer: Payer }
      const own = (text: string) => `${prefix}-${text}`
      const { key, user, team, organisation } = payer
      return {
        ...payer,
        key: own(key),
        user: own(user),
        team: own(team),
        organisation: own(organisation),
      }
    }
    const { limiter } = money(app, storeOf(), payerOf, stream)
    const ask = async (payer: Partial<Payer> = {}) =>
      (await request(app).post('/completions').set('x-payer', JSON.stringify(payer)).send(body))
        .status
    /** What each level has left, as its own key sees it. */
    const left = async () => {
      const of = async (text: string, i: number) => {
        const options = { limit: ada.budget }
        const key = `{${prefix}-${ada.organisation}}key:${prefix}-${text}`
        return (await limiter.peek(key, options)).policies[i]?.remaining
      }
      return Promise.all([ada.key, ada.user, ada.team, ada.organisation].map(of))
    }
    return { ask, left, limiter }
  }

  test('a stream costs what it really used, on every level, to the micro-dollar', async () => {
    const { ask, left, limiter } = await serve('real')
    expect(await ask()).toBe(200)
    // 900 × 3 + 100 × 15
    const used = 4200
    const all = [5_000_000 - used, 50_000_000 - used, 400_000_000 - used, ada.budget - used]
    await until(async () => (await left())[0] === all[0], { what: 'it is settled' })
    await until(async () => (await left())[3] === all[3], { what: 'it is settled everywhere' })
    expect(await left()).toEqual(all)
    limiter.close()
  })

  test('if one level has nothing left, none is charged', async () => {
    const { ask, left, limiter } = await serve('full')
    expect(await ask({ budget: ESTIMATE - 1 })).toBe(429)
    const whole = [5_000_000, 50_000_000, 400_000_000, ada.budget]
    expect(await left()).toEqual(whole)
    expect(await ask({ budget: ESTIMATE })).toBe(200)
    limiter.close()
  })
})
