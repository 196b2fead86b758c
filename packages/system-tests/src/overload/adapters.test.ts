// What `shedLoad` does in every framework: the same, on sockets. Time stands still, so nothing depends on the machine.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { openRaw, type Reply, send } from '@sluice/test-suites/client'
import { listen, SERVERS } from './servers.ts'

/** So many begin before the process knows how long they take. */
const PLACES = 20

describe.each(Object.entries(SERVERS))('%s', (name, start) => {
  let server: Server
  let port: number
  let begun: number
  let finish: () => void

  beforeEach(async () => {
    jest.spyOn(performance, 'now').mockReturnValue(1000)
    begun = 0
    const finished = new Promise<string>((resolve) => {
      finish = () => resolve('served')
    })
    server = await start({
      classes: { critical: {}, normal: {} },
      queue: { max: 2, maxWait: '1m' },
      serve: () => {
        begun += 1
        return finished
      },
    })
    port = await listen(server)
  })

  afterEach(() => {
    finish()
    jest.restoreAllMocks()
    server.closeAllConnections()
    server.close()
  })

  function ask(path = '/', importance = 'normal'): Promise<Reply> {
    const reply = send({ host: '127.0.0.1', port }, { path, headers: { 'x-class': importance } })
    // Some are still open when a test ends.
    reply.catch(() => {})
    return reply
  }

  /** Takes all places, and resolves when they are taken. */
  async function fill(): Promise<Promise<Reply>[]> {
    const asked = Array.from({ length: PLACES }, () => ask())
    await until(() => begun === PLACES, { what: 'all places are taken' })
    return asked
  }

  const connections = () =>
    new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))

  test('what finds no place waits, and is served when one is free', async () => {
    const asked = [...(await fill()), ask()]
    await until(async () => (await connections()) === PLACES + 1, { what: 'one more has come' })
    expect(begun).toBe(PLACES)
    finish()
    for (const each of asked) expect(await each).toMatchObject({ status: 200, body: 'served' })
    expect(begun).toBe(PLACES + 1)
  })

  test('what finds no room to wait is refused, the less important first', async () => {
    const asked = await fill()
    const waiting = [ask(), ask()]
    await until(async () => (await connections()) === PLACES + 2, { what: 'two wait' })
    const refused = await ask()
    expect(refused.status).toBe(503)
    expect(Number(refused.field('Retry-After'))).toBeGreaterThanOrEqual(1)
    expect(Number(refused.field('Retry-After'))).toBeLessThanOrEqual(4)
    expect(refused.field('Cache-Control')).toBe('no-store')
    expect(refused.field('Content-Type')).toMatch(/^application\/problem\+json/)
    expect(JSON.parse(refused.body)).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      status: 503,
    })
    // The rate limit behind it has not seen the request.
    expect(refused.field('RateLimit')).toBeUndefined()
    const critical = ask('/', 'critical')
    expect((await Promise.race(waiting)).status).toBe(503)
    finish()
    expect((await critical).status).toBe(200)
    const statuses = (await Promise.all(waiting)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 503])
    const first = await Promise.all(asked)
    expect(first.every(({ status }) => status === 200)).toBe(true)
    // Each that was served was charged, and nothing else. Nest limits in a guard of its own.
    if (!name.startsWith('Nest')) expect((await ask('/')).remaining).toBe(1000 - PLACES - 3)
  })

  test('what is skipped begins, and takes no place', async () => {
    await fill()
    const health = ask('/health')
    await until(() => begun === PLACES + 1, { what: 'it has begun' })
    finish()
    expect((await health).status).toBe(200)
  })

  test('who leaves while it waits makes room, and nothing is done for it', async () => {
    const asked = await fill()
    const text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    const leaving = [1, 2].map(() => openRaw({ host: '127.0.0.1', port }, text))
    await until(async () => (await connections()) === PLACES + 2, { what: 'two wait' })
    expect((await ask()).status).toBe(503)
    for (const socket of leaving) socket.destroy()
    await until(async () => (await connections()) === PLACES, { what: 'they have left' })
    const next = ask()
    await until(async () => (await connections()) === PLACES + 1, { what: 'another waits' })
    finish()
    expect((await next).status).toBe(200)
    await Promise.all(asked)
    expect(begun).toBe(PLACES + 1)
  })

  test('who leaves while it is served keeps its place while the handler works', async () => {
    const text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    const leaving = Array.from({ length: PLACES }, () => openRaw({ host: '127.0.0.1', port }, text))
    await until(() => begun === PLACES, { what: 'all places are taken' })
    for (const socket of leaving) socket.destroy()
    await until(async () => (await connections()) === 0, { what: 'they have left' })
    const next = ask()
    await until(async () => (await connections()) === 1, { what: 'one waits' })
    expect(begun).toBe(PLACES)
    finish()
    expect((await next).status).toBe(200)
  })

  test('a body is not read while its request waits', async () => {
    await fill()
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
    const length = 50_000_000
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`
    const socket = openRaw({ host: '127.0.0.1', port }, head)
    socket.write(Buffer.alloc(length))
    const connection = await accepted
    // There is no more room to wait, so others are answered at once, while the server reads what it reads.
    void ask()
    await until(async () => (await connections()) === PLACES + 2, { what: 'two wait' })
    let read = -1
    while (read < connection.bytesRead) {
      read = connection.bytesRead
      for (let i = 0; i < 10; i += 1) expect((await ask()).status).toBe(503)
    }
    // The buffers of the connection take some of it.
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(length / 2)
    socket.destroy()
  })

  // A standard Request does not say whether its client still sends.
  if (!name.startsWith('Hono') && name !== 'a function of a Request')
    test('who sends a body slowly holds a place for a second', async () => {
      const text = 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1'
      for (let i = 0; i < PLACES; i += 1) openRaw({ host: '127.0.0.1', port }, text)
      await until(() => begun === PLACES, { what: 'all places are taken' })
      const next = ask()
      await until(async () => (await connections()) === PLACES + 1, { what: 'one waits' })
      expect(begun).toBe(PLACES)
      jest.spyOn(performance, 'now').mockReturnValue(2000)
      await until(() => begun === PLACES + 1, { what: 'it begins' })
      finish()
      expect((await next).status).toBe(200)
    })
})
