import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import { until } from '@sluice/test-harness/redis'
import { createApp } from '../../app.ts'
import { algorithms, LIMIT } from '../../limits.ts'
import type { Pattern } from '../patterns/index.ts'
import { limitersInPage } from './in-page.ts'
import type { Send } from './send.ts'
import { Session } from './session.ts'

let server: Server
let asked: string[]

beforeAll(async () => {
  server = createServer(createApp(memoryStore({ clock: manualClock() }), new Map()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
beforeEach(() => {
  asked = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** A page's own paths, as the browser resolves them. */
const overHttp: Send = (path, init) => {
  asked.push(path)
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, init)
}
const limiters = limitersInPage()
const inPage: Send = (path, init) => {
  asked.push(path)
  return limiters(path, init)
}

const atOnce = (requests: number): Pattern => ({
  name: 'At once',
  hint: '',
  plan: (now) => Array.from({ length: requests }, (_, i) => now + i),
})

function answersOf(session: Session): number {
  return Object.values(session.lanes).reduce((sum, lane) => sum + lane.answers.value.length, 0)
}

const answered = (session: Session, answers: number) =>
  until(() => answersOf(session) === answers, { what: `${answers} answers came` })

describe.each([
  ['over HTTP', overHttp],
  ['in the page', inPage],
])('%s', (_, send) => {
  test('a request goes to all of them, and what they answer is kept', async () => {
    const session = new Session(send)
    session.send()
    await answered(session, algorithms.length)
    expect(asked).toEqual(algorithms.map((algorithm) => `/try/${algorithm}`))
    expect(session.listed.value.map(({ status }) => status)).toEqual(algorithms.map(() => 200))
    expect(new Set(session.listed.value.map(({ number }) => number))).toEqual(new Set([1]))
    expect([session.count.value, session.sent.value.length]).toEqual([1, 1])
  })

  test('sessions are separate clients', async () => {
    const [one, other] = [new Session(send), new Session(send)]
    for (const session of [one, one, other]) session.send()
    await answered(other, algorithms.length)
    expect(other.lanes['sliding-log'].answers.value[0]?.remaining).toBe(LIMIT - 1)
  })

  test('a pattern asks for the time, and sends what it has planned, as a new client', async () => {
    const session = new Session(send)
    session.send()
    await session.play(atOnce(LIMIT + 1))
    const { admitted } = session.lanes['sliding-log']
    await until(() => session.pattern.value === undefined, { what: 'it has ended' })
    await until(() => session.lanes['sliding-log'].underWay.value.length === 0, {
      what: 'all is answered',
    })
    expect(asked).toContain('/clock')
    expect([session.count.value, admitted.value]).toEqual([LIMIT + 1, LIMIT])
  })

  test('a pattern that is stopped sends no more', async () => {
    const session = new Session(send)
    await session.play({ ...atOnce(0), plan: (now) => [now + 60_000] })
    expect(session.planned.value).toHaveLength(1)
    session.stop()
    expect([session.planned.value, session.pattern.value, session.count.value]).toEqual([
      [],
      undefined,
      0,
    ])
  })

  test('after a restart, it does not wait for earlier requests', async () => {
    const session = new Session(send)
    // The last of these waits for its turn in the leaky bucket.
    for (let i = 0; i < 3; i += 1) session.send()
    const { underWay } = session.lanes['leaky-bucket']
    const someWait = () => underWay.value.length > 0 && underWay.value.length < 3
    await until(someWait, { what: 'the first is answered, and another waits' })
    session.startAfresh()
    expect([answersOf(session), underWay.value, session.listed.value]).toEqual([0, [], []])
    session.send()
    await answered(session, algorithms.length)
    expect(session.listed.value.every(({ number }) => number === 1)).toBe(true)
    expect(session.lanes['leaky-bucket'].answers.value[0]?.remaining).toBe(3)
  })
})

test('a server that is down is reported, and ends the pattern', async () => {
  const session = new Session(() => Promise.reject(new TypeError('fetch failed')))
  await session.play(atOnce(3))
  expect([session.lost.value, session.pattern.value, session.count.value]).toEqual([
    true,
    undefined,
    0,
  ])
  session.startAfresh()
  expect(session.lost.value).toBe(false)
})

test('an answer from something other than a limiter is reported in the same way', async () => {
  const session = new Session(async () => new Response('Bad gateway', { status: 502 }))
  session.send()
  await until(() => session.lost.value, { what: 'it is reported' })
  expect(answersOf(session)).toBe(0)
})
