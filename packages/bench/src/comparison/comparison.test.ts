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
const DAY = 24 * HOUR

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

/** A request of a client for each of the limits. */
const request = (site: Site, clients: readonly string[] = ['a'], signal?: AbortSignal) =>
  fetch(site.url, {
    headers: Object.fromEntries(clients.map((client, i) => [`client-${i}`, client])),
    ...(signal && { signal }),
  })

/** Runs with a site, which it closes. */
async function on<T>(
  subject: Subject,
  limits: readonly Limit[],
  run: (site: Site) => Promise<T>,
  client?: Redis,
): Promise<T> {
  const site = await subject.serve(limits, subject.needsRedis ? (client ?? redis()) : client)
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
 * Whether limits are decided together: one refuses nine requests of a client, and the other is charged for none
 * of them. The one that refuses is the first or the second, and has the shorter or the longer window.
 */
async function decidesLimitsTogether(subject: Subject): Promise<'yes' | 'no'> {
  const uncharged = (refusing: 0 | 1, windows: readonly number[]) => {
    const limits = windows.map((windowMs, i) => ({ windowMs, limit: i === refusing ? 1 : 3 }))
    return on(subject, limits, async (site) => {
      const admits = async (client: string) =>
        (await request(site, refusing === 0 ? [client, 'all'] : ['all', client])).status === 200
      const first = []
      for (let i = 0; i < 10; i += 1) first.push(await admits('a'))
      const others = [await admits('b'), await admits('c'), await admits('d')]
      return first.filter(Boolean).length === 1 && others.join() === 'true,true,false'
    })
  }
  const found = [
    await uncharged(0, [HOUR, DAY]),
    await uncharged(0, [DAY, HOUR]),
    await uncharged(1, [HOUR, DAY]),
    await uncharged(1, [DAY, HOUR]),
  ]
  return yesIf(found.every(Boolean))
}

/** Whether a client that waits for Retry-After is admitted. */
const waitIsEnough = (subject: Subject) =>
  on(subject, [{ limit: 5, windowMs: 1900 }], (site) => {
    let waitMs = 0
    const attempt = async () => {
      let refused = await request(site)
      while (refused.status === 200) refused = await request(site)
      waitMs = Number(refused.headers.get('Retry-After')) * 1000
      await setTimeout(waitMs)
      return yesIf((await request(site)).status === 200)
    }
    return inTime(attempt, () => waitMs + 700)
  })

/** Whether a limit of a variable that is not set is an error, and when. */
async function rejectsNoNumber(subject: Subject): Promise<string> {
  const limits = [{ limit: Number.NaN, windowMs: HOUR }]
  const first = await on(subject, limits, (site) => request(site)).catch(() => undefined)
  if (first === undefined) return 'yes'
  return first.status >= 500 ? 'at the first request' : 'no'
}

async function survivesFlood({ flood }: Subject): Promise<string> {
  if (flood === undefined) return 'has none'
  const keys = Array.from({ length: 3000 }, (_, i) => `key-${i}`)
  const { kept, freed } = await flood(keys)
  return yesIf(kept <= 1000 && !freed)
}

/** Whether a request is answered within a second of this process while Redis does not respond. */
async function answersWithoutRedis(
  subject: Subject,
  freeze: () => Promise<void>,
): Promise<'yes' | 'no'> {
  return on(
    subject,
    [{ limit: 100, windowMs: HOUR }],
    async (site) => {
      await request(site)
      await freeze()
      const late = new AbortController()
      void runningTime(1000).then(() => late.abort())
      const answer = await request(site, ['a'], late.signal).catch(() => undefined)
      return yesIf(answer !== undefined)
    },
    redis(),
  )
}

/** All subjects freeze Redis together: each waits until every one has sent its first request. */
async function answeringWithoutRedis(): Promise<string[]> {
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

const yesIf = (found: boolean) => (found ? 'yes' : 'no')

const all = (probe: (subject: Subject) => Promise<string>) => Promise.all(subjects.map(probe))

/** The table of the README: its head, and a row for each limiter. */
function table(): string[][] {
  const readme = readFileSync(join(import.meta.dirname, '../../../../README.md'), 'utf8')
  const [, text = ''] = /^<!-- comparison -->\n(.*?)\n<!-- \/comparison -->$/ms.exec(readme) ?? []
  return text.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const [head = [], , ...rows] = table()

test('the table names the subjects, in order', () => {
  expect(rows.map(([name = '']) => name.replace(/^\[(.*)\].*$/, '$1'))).toEqual(
    subjects.map(({ name }) => name),
  )
})

test.each([
  ['limits decided together', () => all(decidesLimitsTogether)],
  ['`Retry-After` is enough', () => all(waitIsEnough)],
  ['throws on `NaN`', () => all(rejectsNoNumber)],
  ['bounded memory', () => all(survivesFlood)],
  ['answers if Redis hangs', answeringWithoutRedis],
] as const)('%s', async (title, probe) => {
  const column = head.indexOf(title)
  expect(rows.map((cells) => cells[column])).toEqual(await probe())
})
