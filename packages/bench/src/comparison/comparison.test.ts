// What the table of the README says of the peers: measured on the peers themselves.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type RedisServer, runningTime, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import type { Limit, Site, Subject } from './subject.ts'
import { subjects } from './subjects.ts'

const HOUR = 3_600_000
/** A slow machine sends ten requests within it. */
const SHORT_MS = 3000

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
const clients: Redis[] = []
afterAll(async () => {
  for (const client of clients) client.disconnect()
  await server.stop()
})

function redis(): Redis {
  const client = new Redis(server.port)
  client.on('error', () => {})
  clients.push(client)
  return client
}

const request = (site: Site, client: string, signal?: AbortSignal) =>
  fetch(site.url, { headers: { client }, ...(signal && { signal }) })

async function admitted(site: Site, client: string, count = 1): Promise<number> {
  const replies = await Promise.all(Array.from({ length: count }, () => request(site, client)))
  return replies.filter(({ status }) => status === 200).length
}

/** Runs with a site, which it closes. */
async function on<T>(
  subject: Subject,
  limits: readonly Limit[],
  run: (site: Site) => Promise<T>,
  client?: Redis,
): Promise<T> {
  const site = await subject.serve(limits, client)
  try {
    return await run(site)
  } finally {
    await site.close()
  }
}

/** Tries until one takes no longer than `mostMs()`: one that a stall has prolonged proves nothing. */
async function inTime<T>(attempt: () => Promise<T>, mostMs: () => number): Promise<T> {
  for (;;) {
    const began = performance.now()
    const found = await attempt()
    if (performance.now() - began <= mostMs()) return found
  }
}

/**
 * Whether limits are decided together, in memory: one refuses 9 of 10 requests, and the other is charged for
 * one. Both orders are tried.
 */
async function decidesLimitsTogether(subject: Subject): Promise<boolean> {
  const short = { limit: 1, windowMs: SHORT_MS }
  const long = { limit: 2, windowMs: HOUR }
  const inOrder = (limits: readonly Limit[]) =>
    on(subject, limits, async (site) => {
      let client = ''
      const burst = () => {
        client += 'a'
        return admitted(site, client, 10)
      }
      const counts = [await inTime(burst, () => 0.9 * SHORT_MS)]
      for (let i = 0; i < 2; i += 1) {
        await setTimeout(SHORT_MS * 1.1)
        counts.push(await admitted(site, client))
      }
      return counts.join() === '1,1,0'
    })
  const orders = await Promise.all([inOrder([short, long]), inOrder([long, short])])
  return orders.every(Boolean)
}

/** Whether a client that waits for Retry-After is admitted, in memory. */
const waitIsEnough = (subject: Subject) =>
  on(subject, [{ limit: 1, windowMs: 1900 }], (site) => {
    let waitMs = 0
    const attempt = async () => {
      let refused = await request(site, 'a')
      while (refused.status === 200) refused = await request(site, 'a')
      waitMs = Number(refused.headers.get('Retry-After')) * 1000
      await setTimeout(waitMs)
      return (await request(site, 'a')).status === 200
    }
    return inTime(attempt, () => waitMs + 700)
  })

/** A limit from an environment variable, and one that is no number. */
async function rejectsWrongLimits({ make }: Subject): Promise<boolean> {
  const throws = async (limit: unknown) => {
    try {
      await make(limit as never)
      return false
    } catch {
      return true
    }
  }
  return (await throws('5')) && (await throws(Number.NaN))
}

async function survivesFlood({ flood }: Subject): Promise<boolean> {
  const keys = Array.from({ length: 3000 }, (_, i) => `key-${i}`)
  const { kept, freed } = await flood(keys)
  return kept <= 1000 && !freed
}

/** Whether a request is answered within a second of this process while Redis does not respond. */
async function answersWithoutRedis(subject: Subject, freeze: () => Promise<void>) {
  return on(
    subject,
    [{ limit: 100, windowMs: HOUR }],
    async (site) => {
      await request(site, 'a')
      await freeze()
      const late = new AbortController()
      void runningTime(1000).then(() => late.abort())
      const answer = await request(site, 'a', late.signal).catch(() => undefined)
      return answer !== undefined
    },
    redis(),
  )
}

/** All subjects freeze Redis together: each waits until every one has sent its first request. */
async function answeringWithoutRedis(): Promise<boolean[]> {
  let ready = 0
  let frozen = () => {}
  const allReady = new Promise<void>((resolve) => {
    frozen = resolve
  })
  const freeze = () => {
    ready += 1
    if (ready === subjects.length) {
      server.pause()
      frozen()
    }
    return allReady
  }
  const answers = await Promise.all(subjects.map((each) => answersWithoutRedis(each, freeze)))
  server.resume()
  return answers
}

/** The cells of a row of the README's table. */
function rowOf(title: string): string[] {
  const readme = readFileSync(join(import.meta.dirname, '../../../../README.md'), 'utf8')
  const line = readme.split('\n').find((each) => each.startsWith(`| ${title}`))
  if (line === undefined) throw new Error(`the README has no row that begins with ${title}`)
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim())
}

const shown = (found: readonly boolean[]) => found.map((each) => (each ? 'yes' : 'no'))

const all = (probe: (subject: Subject) => Promise<boolean>) => Promise.all(subjects.map(probe))

test('the table names the subjects, in order', () => {
  expect(rowOf('').map((cell) => cell.replace(/^\[(.*)\].*$/, '$1'))).toEqual(
    subjects.map(({ name }) => name),
  )
})

test.each([
  ['Several limits are one decision', () => all(decidesLimitsTogether)],
  ['`Retry-After` is long enough', () => all(waitIsEnough)],
  ["`limit: '5'`", () => all(rejectsWrongLimits)],
  ['Memory is bounded', () => all(survivesFlood)],
  ['If Redis hangs', answeringWithoutRedis],
] as const)('%s', async (title, probe) => {
  expect(rowOf(title)).toEqual(shown(await probe()))
})
