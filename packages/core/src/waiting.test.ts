import { execFile } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { memoryStore } from './stores/memory/memory-store.ts'
import { manualClock } from './testing/manual-clock.ts'
import { servePlain } from './testing/plain-server.ts'
import { hold, takePlace } from './waiting.ts'

/** A response whose client is there, or has gone. */
function response(closed = false) {
  const fake = Object.assign(new EventEmitter(), { closed, socket: {} })
  return fake as unknown as ServerResponse & EventEmitter
}

/** Places taken in this process. */
async function taken(): Promise<number> {
  for (let most = 1; ; most += 1) {
    if (!takePlace(most)) continue
    await hold(0, response(true))
    return most - 1
  }
}

describe('with the clock of the tests', () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  test('a request goes on after its delay, not before, and gives its place back', async () => {
    jest.useFakeTimers()
    takePlace(1)
    const settled = jest.fn()
    const client = response()
    const held = hold(250.5, client).then(settled)
    await jest.advanceTimersByTimeAsync(250)
    expect(settled).not.toHaveBeenCalled()
    expect(await taken()).toBe(1)
    await jest.advanceTimersByTimeAsync(1)
    expect(settled).toHaveBeenCalledWith(true)
    await held
    expect(await taken()).toBe(0)
    expect(client.listenerCount('close')).toBe(0)
  })

  test.each([2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 30 * 86_400_000])(
    'peers fault 9: a delay of %d ms does not fire at once',
    async (ms) => {
      jest.useFakeTimers()
      const timeouts = jest.spyOn(globalThis, 'setTimeout')
      takePlace(1)
      const settled = jest.fn()
      const held = hold(ms, response()).then(settled)
      await jest.advanceTimersByTimeAsync(ms - 1)
      expect(settled).not.toHaveBeenCalled()
      await jest.advanceTimersByTimeAsync(1)
      expect(settled).toHaveBeenCalledWith(true)
      for (const [, delay] of timeouts.mock.calls) expect(delay).toBeLessThan(2 ** 31)
      await held
    },
  )

  test('the client goes away: it does not go on, and its place is free at once', async () => {
    jest.useFakeTimers()
    takePlace(1)
    const client = response()
    const held = hold(3_600_000, client)
    client.emit('close')
    expect(await held).toBe(false)
    expect(await taken()).toBe(0)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('the client has gone already', async () => {
    jest.useFakeTimers()
    takePlace(1)
    expect(await hold(3_600_000, response(true))).toBe(false)
    expect(await taken()).toBe(0)
    expect(jest.getTimerCount()).toBe(0)
  })

  test('no more than so many wait, over all limiters', async () => {
    expect(takePlace(0)).toBe(false)
    expect([takePlace(2), takePlace(2), takePlace(2), takePlace(3)]).toEqual([
      true,
      true,
      false,
      true,
    ])
    for (let i = 0; i < 3; i += 1) await hold(0, response(true))
    expect(await taken()).toBe(0)
  })
})

test('a client that goes away over a real connection', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2))
  const held: Promise<boolean>[] = []
  const bothWait = new Promise<void>((resolve) =>
    server.on('request', (_, response) => {
      takePlace(2)
      if (held.push(hold(3_600_000, response)) === 2) resolve()
    }),
  )
  await bothWait
  expect(await taken()).toBe(2)
  client.destroy()
  // Of the one behind it too.
  expect(await Promise.all(held)).toEqual([false, false])
  expect(await taken()).toBe(0)
  await new Promise((resolve) => server.close(resolve))
})

test('whoever waits does not keep the process alive', async () => {
  const module = pathToFileURL(join(__dirname, 'waiting.ts')).href
  const script = `
    import { EventEmitter } from 'node:events'
    import { hold, takePlace } from ${JSON.stringify(module)}
    takePlace(1)
    hold(3_600_000, Object.assign(new EventEmitter(), { closed: false, socket: {} }))
    console.log('waits')`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 15_000 })
  expect(stdout).toBe('waits\n')
})

describe('through the gate', () => {
  const QUEUE = { limit: 10, window: '1s', algorithm: 'leaky-bucket', maxDelay: '1h' } as const

  test('peers fault 24: beyond the cap they are refused at once, and are not charged', async () => {
    const store = memoryStore({ clock: manualClock() })
    const served: unknown[] = []
    const server = await servePlain([{ ...QUEUE, store, maxWaiting: 2 }], (_, response) => {
      served.push(response)
      response.end()
    })
    const answers = await Promise.all(Array.from({ length: 10 }, () => server.send()))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 200, 200, ...Array(7).fill(429)])
    expect(served).toHaveLength(3)
    for (const { status, headers } of answers) {
      if (status !== 429) continue
      expect(headers['retry-after']).toBe('1')
      expect(headers.ratelimit).toMatch(/^"default";r=\d+;t=1$/)
    }
    // Three are in the queue, so that the next waits for three turns of 100 ms.
    const next = server.gates[0]?.base.limiter.consume('127.0.0.1')
    expect(next).toMatchObject({ allowed: true, delayMs: 300 })
    await server.stop()
    store.close()
  })

  test('whoever goes away makes room for another', async () => {
    const store = memoryStore({ clock: manualClock() })
    const options = { ...QUEUE, limit: 1, window: '1h', store, maxWaiting: 1 } as const
    const server = await servePlain([options], (_, response) => response.end())
    expect((await server.send()).status).toBe(200)
    const client = connect(server.port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    while ((await taken()) === 0) await new Promise(setImmediate)
    expect((await server.send()).status).toBe(429)
    client.destroy()
    while ((await taken()) === 1) await new Promise(setImmediate)
    await server.stop()
    store.close()
  })
})
