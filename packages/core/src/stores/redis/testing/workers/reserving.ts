import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { RoutedLimiter } from '@sluice/http/adapter'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { plain } from '../../../../../../http/src/testing/plain-server.ts'
import { createLimiter } from '../../../../index.ts'

export interface ReservingWork {
  url: string
  /** How many keys the streams are of. */
  keys: number
  /** Streams at the same time. */
  atOnce: number
  /** Where the process says what its streams cost: before it settles, and when that is confirmed. */
  intended: string
  confirmed: string
  /** Where it says of estimates that their clients have left, until their responses end. */
  left: string
}

/** Units that a stream reserves, and costs at most. */
const ESTIMATE = 10
const MOST = 15

const { url, keys, atOnce, intended, confirmed, left } = JSON.parse(
  process.argv[2] as string,
) as ReservingWork
const client = new Redis(url)
const options = {
  ...patient,
  store: client,
  limit: 10 ** 9,
  window: 'month',
  reserve: true,
  hold: '2s',
} as const
const limiter = createLimiter(options)
let isEnding = false
process.on('message', () => {
  isEnding = true
})
// The test is gone.
process.once('disconnect', () => process.exit())

async function stream(key: string): Promise<void> {
  const reservation = await limiter.acquire(key, { cost: ESTIMATE })
  if (!reservation.allowed || reservation.source !== 'store') return
  await delay(Math.random() * 200)
  const cost = Math.floor(Math.random() * (MOST + 1))
  await client.hincrby(intended, key, cost)
  await reservation.settle(cost)
  await client.hincrby(confirmed, key, cost)
  process.send?.('settled')
}

/** The cost of each response of the server so far: 0 until it is about to end. */
const costs = new WeakMap<ServerResponse, number>()
const keyOf = ({ headers }: IncomingMessage) => `${headers['x-key']}`
const http = new RoutedLimiter<IncomingMessage, ServerResponse>(
  {
    ...options,
    prefix: 'http',
    key: keyOf,
    cost: ESTIMATE,
    settle: (_, response) => costs.get(response) ?? 0,
  },
  {
    ...plain,
    // Called first when a client leaves, perhaps, and then when the response has ended: that is confirmed.
    waitUntil(request, settled) {
      const cost = ended.get(request)
      if (!ended.delete(request)) return
      void settled.then(async () => {
        await client.hincrby(confirmed, `http ${keyOf(request)}`, cost as number)
        if (request.headers['x-leaves'] === 'true')
          await client.hincrby(left, `http ${keyOf(request)}`, -ESTIMATE)
        process.send?.('settled')
      })
    },
  },
)
/** The cost of each request whose response is about to end, until that is confirmed. */
const ended = new Map<IncomingMessage, number>()
const server = createServer(async (request, response) => {
  if (!(await http.handle(request, response))) return
  const name = `http ${keyOf(request)}`
  response.write('begun')
  await delay(Math.random() * 200)
  const cost = Math.floor(Math.random() * (MOST + 1))
  await client.hincrby(intended, name, cost)
  costs.set(response, cost)
  ended.set(request, cost)
  response.end()
}).listen(0, '127.0.0.1')

/** Sends a request of a key; every fourth client leaves while the response runs. */
async function overHttp(key: string): Promise<void> {
  const { port } = server.address() as AddressInfo
  const leaves = Math.random() < 1 / 4
  if (leaves) await client.hincrby(left, `http ${key}`, ESTIMATE)
  return new Promise((resolve) => {
    const sent = request(
      { port, host: '127.0.0.1', headers: { 'x-key': key, 'x-leaves': `${leaves}` } },
      (response) => {
        if (leaves) sent.destroy()
        response.resume()
      },
    )
    sent.on('error', () => {})
    sent.on('close', resolve)
    sent.end()
  })
}

async function streams(): Promise<void> {
  while (!isEnding) {
    const key = `client ${Math.floor(Math.random() * keys)}`
    await (Math.random() < 1 / 2 ? stream(key) : overHttp(key))
  }
}

await once(server, 'listening')
await Promise.all(Array.from({ length: atOnce }, streams))
process.exit()
