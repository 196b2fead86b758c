import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { isClosed, whenClosed } from './when-closed.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

let server: Server
let client: Socket
let handle: Handler
/** The number of each request whose response was reported as closed, in order. */
let closed: number[]

beforeEach(async () => {
  closed = []
  let requests = 0
  server = createServer((request, response) => {
    requests += 1
    const number = requests
    whenClosed(response, () => closed.push(number))
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const accepted = once(server, 'connection')
  client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  await accepted
})

afterEach(async () => {
  client.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Waits until every connection has ended on the server's side too. */
async function connectionsEnded(): Promise<void> {
  const open = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  while ((await open()) > 0) await new Promise(setImmediate)
  await new Promise(setImmediate)
}

function received(text: string): Promise<void> {
  return new Promise((resolve) => {
    let all = ''
    client.on('data', (chunk) => {
      all += chunk
      if (all.includes(text)) resolve()
    })
  })
}

test('the response has ended: once, also when the connection ends later', async () => {
  handle = (_, response) => response.end('done')
  client.write(GET)
  await received('done')
  expect(closed).toEqual([1])
  client.destroy()
  await connectionsEnded()
  expect(closed).toEqual([1])
})

test('a connection that is kept alive: once for each of its responses, without a trace', async () => {
  const listeners: number[] = []
  handle = ({ socket }, response) => {
    listeners.push(socket.listenerCount('close'))
    response.end('done')
  }
  for (let i = 1; i <= 3; i += 1) {
    const answered = new Promise((resolve) => client.once('data', resolve))
    client.write(GET)
    await answered
    while (closed.length < i) await new Promise(setImmediate)
  }
  expect(closed).toEqual([1, 2, 3])
  expect(new Set(listeners).size).toBe(1)
})

test('the client goes away before the response', async () => {
  handle = () => client.destroy()
  client.write(GET)
  await connectionsEnded()
  expect(closed).toEqual([1])
})

test('the client goes away during the body', async () => {
  handle = (_, response) => response.writeHead(200).write('first part')
  client.write(GET)
  await received('first part')
  client.destroy()
  await connectionsEnded()
  expect(closed).toEqual([1])
})

describe('requests that wait behind another on their connection', () => {
  test('the client disconnects: each one is notified', async () => {
    const socketOf: (Socket | null)[] = []
    handle = (_, response) => {
      // The second is answered, and can't be sent while the first is not.
      if (socketOf.push(response.socket) === 2) response.end('done')
      if (socketOf.length === 3) client.destroy()
    }
    client.write(GET.repeat(3))
    await connectionsEnded()
    expect(socketOf.slice(1)).toEqual([null, null])
    expect(closed.sort()).toEqual([1, 2, 3])
  })

  test('each one is notified when it is sent', async () => {
    const waiting: ServerResponse[] = []
    handle = (_, response) => {
      waiting.push(response)
      if (waiting.length < 3) return
      for (const each of waiting.reverse()) each.end(`done ${waiting.indexOf(each)}`)
    }
    client.write(GET.repeat(3))
    await received('done 0')
    expect(closed).toEqual([1, 2, 3])
    client.destroy()
    await connectionsEnded()
    expect(closed).toEqual([1, 2, 3])
  })

  test('however many they are, the connection has one additional listener', async () => {
    const listeners: number[] = []
    handle = ({ socket }) => {
      listeners.push(socket.listenerCount('close'))
      if (listeners.length === 30) client.destroy()
    }
    client.write(GET.repeat(30))
    await connectionsEnded()
    expect(new Set(listeners.slice(1))).toEqual(new Set([(listeners[0] as number) + 1]))
    expect(closed).toHaveLength(30)
  })

  test('a client that has gone already', async () => {
    const responses: ServerResponse[] = []
    handle = (_, response) => {
      if (responses.push(response) === 2) client.destroy()
    }
    client.write(GET.repeat(2))
    await connectionsEnded()
    for (const response of responses) {
      expect(isClosed(response)).toBe(true)
      whenClosed(response, () => closed.push(0))
    }
    expect(closed.sort()).toEqual([0, 0, 1, 2])
  })
})

test('a cancelled callback is not called', async () => {
  handle = (_, response) => {
    whenClosed(response, () => closed.push(0))()
    if (response.socket === null) client.destroy()
  }
  client.write(GET.repeat(2))
  await connectionsEnded()
  expect(closed.sort()).toEqual([1, 2])
})
