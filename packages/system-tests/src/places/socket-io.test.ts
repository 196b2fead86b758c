import { connect as connectTcp } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Program } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'
import { io, type ManagerOptions, type Socket } from 'socket.io-client'
import { programOf, startProgram } from './page.ts'

/** The application: it answers each event that it gets. */
const ECHO = `
io.on('connection', (socket) => {
  socket.on('event', (text, reply) => reply?.(text))
  socket.onAny(() => console.log('heard'))
})
`

/** A client of Socket.IO, its connection or its manager. */
interface Listens {
  once(event: never, listener: (first: unknown) => void): unknown
}

let place: Program
const sockets: Socket[] = []

beforeEach(async () => {
  place = await startProgram(programOf('socket-io') + ECHO)
})
afterEach(async () => {
  for (const each of sockets.splice(0)) each.disconnect()
  await place.stop()
})

function open(options: Partial<ManagerOptions>): Socket {
  const socket = io(place.url, { forceNew: true, reconnection: false, ...options })
  sockets.push(socket)
  return socket
}

/** @returns the socket, or why it was refused */
function connect(options: Partial<ManagerOptions>): Promise<Socket | Error> {
  const socket = open(options)
  return new Promise((resolve) => {
    socket.on('connect', () => resolve(socket))
    socket.on('connect_error', resolve)
  })
}

describe.each(['polling', 'websocket'])('%s', (transport) => {
  const options = { transports: [transport] }

  test('five connections are open, a sixth is refused, until one closes', async () => {
    const [first] = await Promise.all([1, 2, 3, 4, 5].map(() => connect(options)))
    expect(await connect(options)).toMatchObject({ message: 'Too many connections' })
    ;(first as Socket).disconnect()
    await until(async () => !((await connect(options)) instanceof Error), {
      what: 'the slot is free',
    })
  })

  test('events are counted per client, over all of its connections', async () => {
    const two = (await Promise.all([connect(options), connect(options)])) as Socket[]
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) => two[i % 2]?.emitWithAck('event', i)),
    )
    const refused = replies.filter((each) => typeof each !== 'number')
    expect(refused).toHaveLength(10)
    expect(refused[0]).toEqual({ error: 'Too many events', retryAfterMs: expect.any(Number) })
    const [left] = two as [Socket]
    left.emit('event', 'no acknowledgement')
    const reason = await happens(left, 'disconnect')
    expect(reason).toMatch(/disconnect|close/)
    // What the program writes may come later than what it sends.
    const heard = () => place.output().match(/heard/g)?.length ?? 0
    await until(() => heard() >= 61, { what: 'the program has written all that it heard' })
    expect(heard()).toBe(61)
    expect(place.output()).not.toContain('Error')
  })
})

test('a session that upgrades is one connection', async () => {
  const socket = (await connect({})) as Socket
  if (socket.io.engine.transport.name !== 'websocket') await happens(socket.io.engine, 'upgrade')
  const refused = await openAtOnce('/socket.io/?EIO=4&transport=polling', 20)
  expect(refused).toBe(1)
})

test('only what has a session is not counted as a new connection', async () => {
  const path = '/socket.io/?EIO=4&transport=polling'
  expect(await send(`${path}&sid=none`)).toMatch(/^HTTP\/1.1 400 /)
  expect(await openAtOnce(path, 21)).toBe(1)
  for (const query of ['&sid=', '&sid=a&sid=', '#&sid=a', '&x=%26sid%3Da']) {
    expect(await send(path + query)).toMatch(/^HTTP\/1.1 429 /)
  }
})

test('clients that hang up while a slow store decides leave no slot in use', async () => {
  await place.stop()
  const slowly = 'await setTimeout(50).then(() => open.acquire(key))'
  const program = programOf('socket-io').replace('await open.acquire(key)', slowly)
  place = await startProgram(`import { setTimeout } from 'node:timers/promises'\n${program}${ECHO}`)
  for (let i = 0; i < 14; i += 1) {
    const socket = open({ transports: ['websocket'] })
    await happens(socket.io, 'open')
    setImmediate(() => socket.io.engine.close())
    await happens(socket.io, 'close')
  }
  const five = await Promise.all([1, 2, 3, 4, 5].map(() => connect({ transports: ['websocket'] })))
  expect(five.filter((each) => each instanceof Error)).toEqual([])
})

/** @returns what the event says */
function happens(emitter: Listens, event: string): Promise<unknown> {
  return new Promise((resolve) => emitter.once(event as never, resolve))
}

/** @returns how many of so many requests are refused with 429 */
async function openAtOnce(path: string, count: number): Promise<number> {
  const responses = await Promise.all(Array.from({ length: count }, () => send(path)))
  return responses.filter((each) => each.startsWith('HTTP/1.1 429 ')).length
}

/** Sends a path as it is: clients would correct it. */
async function send(path: string): Promise<string> {
  const socket = connectTcp(Number(new URL(place.url).port), '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  let response = ''
  for await (const chunk of socket) response += chunk
  return response
}
