// What one client can do to hold slots (`concurrent`), in every framework.

import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { memoryStore } from '@sluice/express'
import { until } from '@sluice/test-harness/redis'
import { type Client, send } from './clients.ts'
import { FRAMEWORKS, type Running, start, type Version } from './servers.ts'

const SLOTS = 5
const RESETS = 300

let store: ReturnType<typeof memoryStore>
let site: Running
let leaving: (() => void)[]
/** Requests that the application has begun, and those that it still works for. */
let begun: number
let working: (() => void)[]
let takesTime: boolean

beforeEach(() => {
  store = memoryStore()
  leaving = []
  begun = 0
  working = []
  takesTime = true
})
afterEach(async () => {
  finish()
  for (const leave of leaving) leave()
  await site.stop()
  store.close()
})

function finish(): void {
  for (const end of working.splice(0)) end()
}

async function serve(
  adapter: string,
  version: Version,
  { hold = '1h', body = () => 'done' }: { hold?: string; body?: () => string | Readable } = {},
): Promise<void> {
  const slow = {
    options: { store, concurrent: SLOTS, hold },
    before: async () => {},
    async work() {
      begun += 1
      if (takesTime) await new Promise<void>((resolve) => working.push(resolve))
      return 200
    },
    body,
  }
  site = await start(adapter, slow, version)
}

const free = () => (site.limiter.peek('127.0.0.1') as { remaining: number }).remaining

async function untilAllFree(): Promise<void> {
  await until(() => free() === SLOTS, { what: 'all slots are free' })
  // The store keeps nothing of a key of which nothing is in progress.
  expect(store.size).toBe(0)
}

const CASES = Object.keys(FRAMEWORKS)
  .flatMap((adapter) =>
    (['HTTP/1.1', 'HTTP/2'] as const).map((version) => [adapter, version] as const),
  )
  .filter(([adapter, version]) => adapter !== 'Express 4' || version === 'HTTP/1.1')

describe.each(CASES)('%s, %s', (adapter, version) => {
  test('clients that leave free nothing before the work for them has ended', async () => {
    await serve(adapter, version)
    for (let round = 0; round < 3; round += 1) {
      const clients = Array.from({ length: 2 * SLOTS }, () => send(site.port, version))
      leaving.push(...clients.map(({ leave }) => leave))
      const refused = () => clients.filter(({ status }) => status === 429).length
      const decided = () => begun + refused() === 2 * SLOTS + (round === 0 ? 0 : SLOTS)
      await until(decided, { what: 'all are decided' })
      for (const { leave } of clients) leave()
    }
    expect([begun, free()]).toEqual([SLOTS, 0])
    finish()
    await untilAllFree()
  })

  test('a client that an endless response waits for has its slot while it stays, then hold at most', async () => {
    const chunk = Buffer.alloc(64_000)
    const endless = () =>
      new Readable({
        read() {
          this.push(chunk)
        },
      })
    await serve(adapter, version, { hold: '1s', body: endless })
    const leave = neverRead(version)
    await until(() => working.length === 1, { what: 'the work has begun' })
    finish()
    const began = Date.now()
    await until(() => Date.now() - began > 1100, { what: 'hold has passed' })
    expect(free()).toBe(SLOTS - 1)
    leave()
    await until(() => free() === SLOTS, { what: 'the slot is free' })
  })
})

// Over HTTP/2 Fastify writes a large body in parts, each when the client has read the last.
const AT_ONCE = CASES.filter((each) => `${each}` !== 'Fastify 5,HTTP/2')

describe.each(AT_ONCE)('%s, %s', (adapter, version) => {
  test('a client that reads nothing has no slot once the application has written all', async () => {
    await serve(adapter, version, { body: () => 'x'.repeat(20_000_000) })
    const leave = neverRead(version)
    await until(() => working.length === 1, { what: 'the work has begun' })
    expect(free()).toBe(SLOTS - 1)
    finish()
    await untilAllFree()
    leave()
  })
})

describe.each(CASES.filter(([, version]) => version === 'HTTP/2'))('streams, %s', (adapter) => {
  let session: ClientHttp2Session

  async function open(): Promise<void> {
    await serve(adapter, 'HTTP/2')
    session = connectHttp2(`http://127.0.0.1:${site.port}`)
    session.on('error', () => {})
    leaving.push(() => session.destroy())
  }

  function stream(): Client {
    const each = session.request({ ':path': '/' })
    const client: Client = {
      status: undefined,
      leave: () => each.close(constants.NGHTTP2_CANCEL),
    }
    each
      .on('error', () => {})
      .once('response', (headers) => {
        client.status = headers[':status']
      })
    each.resume().end()
    return client
  }

  /** Sends each, and resets it, in one turn. */
  async function resetMany(): Promise<void> {
    for (let i = 0; i < RESETS; i += 1) {
      stream().leave()
      if (i % 10 === 0) await new Promise(setImmediate)
    }
    // Behind them on the same connection.
    const last = stream()
    await until(() => last.status !== undefined, { what: 'the last one is answered' })
  }

  test('of one connection have a slot each', async () => {
    await open()
    const streams = Array.from({ length: SLOTS + 2 }, stream)
    const statuses = () => streams.flatMap(({ status }) => status ?? [])
    await until(() => statuses().length === 2, { what: 'two are refused' })
    expect([statuses(), begun]).toEqual([[429, 429], SLOTS])
    finish()
    await until(() => statuses().length === SLOTS + 2, { what: 'all are answered' })
    await untilAllFree()
  })

  test('that are reset at once take no more slots than there are, and leave none behind', async () => {
    await open()
    const kept = Array.from({ length: SLOTS }, stream)
    await until(() => begun === SLOTS, { what: 'all slots are taken' })
    await resetMany()
    expect([begun, free()]).toEqual([SLOTS, 0])
    finish()
    await until(() => kept.every(({ status }) => status === 200), {
      what: 'the others are answered',
    })
    await untilAllFree()
    takesTime = false
    await resetMany()
    await untilAllFree()
  })
})

/** A request whose response is never read. */
function neverRead(version: Version): () => void {
  if (version === 'HTTP/1.1') {
    const socket = connect(site.port, '127.0.0.1').pause()
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    leaving.push(() => socket.destroy())
    return () => socket.destroy()
  }
  const session = connectHttp2(`http://127.0.0.1:${site.port}`)
  session.on('error', () => {})
  session
    .request({ ':path': '/' })
    .on('error', () => {})
    .pause()
  leaving.push(() => session.destroy())
  return () => session.destroy()
}
