import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore, type RateLimitOptions, redisStore } from '@sluice/express'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import type { Express, RequestHandler, Response } from 'express'
import { Redis } from 'ioredis'
import { expectShown, row } from './document.ts'
import * as downloads from './downloads.ts'
import * as logins from './logins.ts'
import { type Reply, type Site, serveRecipe } from './site.ts'
import * as tokens from './tokens.ts'

type Store = RateLimitOptions['store']
type Form = 'reserving' | 'charging'
type Register = (
  app: Express,
  store: Store,
  handler: RequestHandler,
) => ReturnType<typeof logins.reserving>

interface Case {
  readonly section: string
  readonly forms: Record<Form, Register>
  readonly route: readonly [method: string, path: string]
  readonly limit: number
  /** What the reserving form reserves. */
  readonly reserved: number
  /** What the application does, by the words of the page. */
  readonly answers: Record<string, (response: Response) => void>
  /** Units that a response has really cost. */
  used(reply: Reply, answer: string): number
}

const status = (code: number) => (response: Response) => response.sendStatus(code)
const file = (bytes: number) => (response: Response) => response.send(Buffer.alloc(bytes))
const used = (units: number) => (response: Response) => {
  response.locals.tokensUsed = units
  response.json({})
}

const CASES: Case[] = [
  {
    section: 'Failed logins',
    forms: logins,
    route: ['POST', '/login'],
    limit: 5,
    reserved: 1,
    answers: { 'right passwords': status(200), 'wrong passwords': status(401) },
    used: (reply) => (reply.status === 401 ? 1 : 0),
  },
  {
    section: 'Bytes sent',
    forms: downloads,
    route: ['GET', '/download'],
    limit: 1_000_000,
    reserved: 100_000,
    answers: { 'files of 20 kB': file(20_000), 'files of 99 kB': file(99_000) },
    used: (reply) => reply.bytes,
  },
  {
    section: 'Tokens used',
    forms: tokens,
    route: ['POST', '/completions'],
    limit: 10_000,
    reserved: 1000,
    answers: { 'answers of 300 tokens': used(300), 'answers of 1000 tokens': used(1000) },
    used: (_, answer) => (answer.includes('300') ? 300 : 1000),
  },
]

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port, server.host)
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

const STORES: Record<string, () => RateLimitOptions['store'] & { close(): void }> = {
  memory: () => memoryStore({ clock: manualClock() }),
  Redis: () => redisStore(client, { clock: manualClock() }),
}

describe.each(Object.keys(STORES))('on %s', (kind) => {
  let store: ReturnType<(typeof STORES)[string]>
  let site: Site

  beforeEach(async () => {
    await client.flushall()
    store = (STORES[kind] as (typeof STORES)[string])()
  })
  afterEach(async () => {
    await site.stop()
    store.close()
  })

  async function serve({ forms, route }: Case, form: Form): Promise<void> {
    site = await serveRecipe((app, handler) => forms[form](app, store, handler), ...route)
  }

  for (const each of CASES) {
    describe.each(['reserving', 'charging'] as const)(`${each.section}, %s`, (form) => {
      test.each(Object.keys(each.answers))('20 together: %s', async (answer) => {
        await serve(each, form)
        const replies = await site.atOnce(20, each.answers[answer] as (response: Response) => void)
        const served = replies.filter((reply) => reply.status !== 429)
        const total = served.reduce((sum, reply) => sum + each.used(reply, answer), 0)
        const left = Math.max(0, each.limit - total)
        const over = Math.max(0, total - each.limit)
        await site.untilLeft(left)
        // What is reserved is never over-admitted, what is charged afterwards never refused wrongly.
        if (form === 'reserving') expect(over).toBe(0)
        else expect(served).toHaveLength(20)
        expect(row(form, answer)).toEqual({
          served: served.length,
          refused: 20 - served.length,
          // Header fields are bytes too: the page rounds to thousands.
          left: each.route[1] === '/download' ? thousands(left) : left,
          over: each.route[1] === '/download' ? thousands(over) : over,
        })
        const [next] = await site.atOnce(1, status(200))
        const needed = form === 'reserving' ? each.reserved : 1
        expect(next?.status).toBe(left >= needed ? 200 : 429)
      })
    })
  }

  test('charged afterwards, but one after the other: no more than the limit', async () => {
    await serve(CASES[0] as Case, 'charging')
    const statuses: (number | undefined)[] = []
    for (let left = 4; left >= -2; left -= 1) {
      const [reply] = await site.atOnce(1, status(401))
      statuses.push(reply?.status)
      await site.untilLeft(Math.max(0, left))
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  })
})

test('the page shows the code that was tested here', () => {
  for (const file of ['logins.ts', 'downloads.ts']) expectShown(file)
})

function thousands(bytes: number): number {
  return Math.floor(bytes / 10_000) * 10_000
}
