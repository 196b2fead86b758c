import { execFile } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { memoryStore } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { whenClosed } from '../../node/when-closed.ts'
import { type PlainAnswer, plain, servePlain } from '../../testing/plain-server.ts'
import { RoutedLimiter } from '../routed-limiter.ts'
import { Turns } from './turns.ts'

/** Reports when a client disconnects, for a connected and for a disconnected client. */
function watch(client: EventEmitter, gone = false) {
  return (callback: () => void) => {
    if (gone) callback()
    else client.once('close', callback)
    return () => void client.off('close', callback)
  }
}

const stays = () => watch(new EventEmitter())
const hasGone = () => watch(new EventEmitter(), true)

describe('with the clock of the tests', () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  test('a request continues after its delay, not before, and frees its slot', async () => {
    jest.useFakeTimers()
    const room = new Turns(1)
    room.take('a')
    const settled = jest.fn()
    const client = new EventEmitter()
    const held = room.delay('a', 250.5, watch(client)).then(settled)
    await jest.advanceTimersByTimeAsync(250)
    expect(settled).not.toHaveBeenCalled()
    expect(room.take('b')).toBe(false)
    await jest.advanceTimersByTimeAsync(1)
    expect(settled).toHaveBeenCalledWith(true)
    await held
    expect(room.take('b')).toBe(true)
    expect(client.listenerCount('close')).toBe(0)
  })

  test.each([2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 30 * 86_400_000])(
    'a delay of %d ms does not fire immediately',
    async (ms) => {
      jest.useFakeTimers()
      const timeouts = jest.spyOn(globalThis, 'setTimeout')
      const room = new Turns(1)
      room.take('a')
      const settled = jest.fn()
      const held = room.delay('a', ms, stays()).then(settled)
      await jest.advanceTimersByTimeAsync(ms - 1)
      expect(settled).not.toHaveBeenCalled()
      await jest.advanceTimersByTimeAsync(1)
      expect(settled).toHaveBeenCalledWith(true)
      for (const [, delay] of timeouts.mock.calls) expect(delay).toBeLessThan(2 ** 31)
      await held
    },
  )

  test('the client goes away: the request does not continue, and its slot is free immediately', async () => {
    jest.useFakeTimers()
    const room = new Turns(1)
    room.take('a')
    const client = new EventEmitter()
    const held = room.delay('a', 3_600_000, watch(client))
    client.emit('close')
    expect(await held).toBe(false)
    expect(room.take('b')).toBe(true)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('the client has gone already', async () => {
    jest.useFakeTimers()
    const room = new Turns(1)
    room.take('a')
    expect(await room.delay('a', 3_600_000, hasGone())).toBe(false)
    expect(room.take('b')).toBe(true)
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('the slots are limited', () => {
  /** How many of so many attempts get a slot. */
  function take(room: Turns, key: string, tries = 2000): number {
    return Array.from({ length: tries }, () => room.take(key)).filter(Boolean).length
  }

  test('none, one, and many', () => {
    const counts = [0, 1, 2, 1000].map((places) => {
      const room = new Turns(places)
      const keys = Array.from({ length: 1100 }, (_, i) => `${i}`)
      return keys.filter((key) => room.take(key)).length
    })
    expect(counts).toEqual([0, 1, 2, 1000])
  })

  test('one key alone gets half of them, and always leaves some for others', () => {
    const room = new Turns(1000)
    expect(['a', 'b', 'c', 'd'].map((key) => take(room, key))).toEqual([500, 250, 125, 63])
    expect(take(room, 'a')).toBe(0)
    expect(room.take('e')).toBe(true)
  })

  test('each limiter has its own slots', () => {
    const [one, other] = [new Turns(4), new Turns(4)]
    expect([take(one, 'a'), take(one, 'b'), take(other, 'a')]).toEqual([2, 1, 2])
  })

  test('a freed slot is free for any key', async () => {
    const room = new Turns(4)
    expect(take(room, 'a')).toBe(2)
    for (let i = 0; i < 2; i += 1) await room.delay('a', 0, hasGone())
    expect(take(room, 'b')).toBe(2)
  })
})

test('a client that goes away over a real connection', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2))
  const room = new Turns(4)
  const held: Promise<boolean>[] = []
  const bothWait = new Promise<void>((resolve) =>
    server.on('request', (_, response) => {
      room.take('a')
      if (held.push(room.delay('a', 3_600_000, (gone) => whenClosed(response, gone))) === 2)
        resolve()
    }),
  )
  await bothWait
  expect(room.take('a')).toBe(false)
  client.destroy()
  // And of the one behind it.
  expect(await Promise.all(held)).toEqual([false, false])
  expect(room.take('a')).toBe(true)
  await new Promise((resolve) => server.close(resolve))
})

test('the process stays alive while a request waits, and no longer', async () => {
  const module = pathToFileURL(join(__dirname, 'turns.ts')).href
  const script = `
    import { EventEmitter } from 'node:events'
    import { Turns } from ${JSON.stringify(module)}
    const watch = (client) => (callback) => {
      client.once('close', callback)
      return () => client.off('close', callback)
    }
    const room = new Turns(4)
    room.take('a')
    const leaves = new EventEmitter()
    room.take('b')
    room.delay('b', 3_600_000, watch(leaves)).then((goesOn) => console.log('left', goesOn))
    leaves.emit('close')
    console.log('waited', await room.delay('a', 100, watch(new EventEmitter())))`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  expect(stdout).toBe('left false\nwaited true\n')
})

describe('through the HTTP limiter', () => {
  const QUEUE = { limit: 10, window: '5s', algorithm: 'leaky-bucket', maxDelay: '1h' } as const

  test('beyond the maximum they are refused immediately, and not charged', async () => {
    const store = memoryStore({ clock: manualClock() })
    const served: unknown[] = []
    const server = await servePlain(
      [{ ...QUEUE, window: '100s', store, maxWaiting: 4 }],
      (_, response) => {
        served.push(response)
        response.end()
      },
    )
    const answers: PlainAnswer[] = []
    await new Promise<void>((resolve) => {
      const answered = (answer: PlainAnswer) => answers.push(answer) === 8 && resolve()
      // Two still wait when the server ends.
      for (let i = 0; i < 10; i += 1) server.send().then(answered, () => {})
    })
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(7).fill(429)])
    expect(served).toHaveLength(1)
    for (const { status, headers } of answers) {
      if (status !== 429) continue
      // Clients come back spread over a tenth of the wait.
      expect(headers['retry-after']).toMatch(/^3[0-3]$/)
      expect(headers.ratelimit).toMatch(/^"default";r=\d+;t=3[0-3]$/)
    }
    // Three are in the queue, so that the next waits for three turns of 10 s.
    const next = server.httpLimiters[0]?.base.limiter.consume('127.0.0.1')
    expect(next).toMatchObject({ allowed: true, delayMs: 30_000 })
    await server.stop()
    store.close()
  })

  test('a client that leaves frees its slot for another', async () => {
    const store = memoryStore({ clock: manualClock() })
    const seated: boolean[] = []
    const options = {
      ...QUEUE,
      limit: 1,
      window: '1h',
      maxDelay: '2h',
      store,
      maxWaiting: 1,
      onDecision: ({ allowed }: { allowed: boolean }) => void seated.push(allowed),
    } as const
    const server = await servePlain([options], (_, response) => response.end())
    const wait = () => {
      const client = connect(server.port, '127.0.0.1').on('error', () => {})
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      return client
    }
    expect((await server.send()).status).toBe(200)
    const client = wait()
    while (seated.length < 2) await new Promise(setImmediate)
    expect((await server.send()).status).toBe(429)
    expect(seated).toEqual([true, true, false])
    client.destroy()
    while (seated.at(-1) !== true) {
      const { length } = seated
      wait()
      while (seated.length === length) await new Promise(setImmediate)
    }
    await server.stop()
    store.close()
  })

  test('without a place, what is refused waits for the queue and not for a dry run', () => {
    const queue = { ...QUEUE, name: 'queue' } as const
    const policies = [queue, { name: 'new', limit: 0, window: '1h', dryRun: true }] as const
    const store = memoryStore({ clock: manualClock() })
    const { base } = new RoutedLimiter({ policies, store, maxWaiting: 0 }, plain)
    const socket = { remoteAddress: '192.0.2.1' }
    const request = { method: 'GET', url: '/', headers: {}, socket } as never
    const response = {} as never
    base.decide(request, response)
    expect(base.decide(request, response)).toMatchObject({
      decision: { allowed: false, retryAfterMs: 500 },
    })
    store.close()
  })

  test('of two queues, only that with the longest delay has a place taken', async () => {
    const store = memoryStore({ clock: manualClock() })
    const queue = (name: string, limit: number, key: () => string) =>
      ({ ...QUEUE, name, limit, window: '1s', key }) as const
    const policies = [queue('own', 500, () => 'a'), queue('shared', 100, () => 'all')] as const
    const server = await servePlain([{ policies, store, maxWaiting: 2 }], (_, response) =>
      response.end(),
    )
    const statuses: number[] = []
    for (let i = 0; i < 4; i += 1) statuses.push((await server.send()).status)
    expect(statuses).toEqual([200, 200, 200, 200])
    await server.stop()
    store.close()
  })
})
