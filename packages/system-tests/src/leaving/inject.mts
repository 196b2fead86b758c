// Run by Node's own test runner: requests without a socket. Nothing but a limiter's timer keeps the
// process alive while they wait, and nothing tells the response that its reader has gone.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { memoryStore, rateLimit } from '@sluice/fastify'
import { until } from '@sluice/test-harness/redis'
import fastify, { type FastifyInstance } from 'fastify'

const statuses = async (app: FastifyInstance) => {
  const replies = await Promise.all([1, 2, 3].map(() => app.inject('/')))
  return replies.map(({ statusCode }) => statusCode)
}

test('requests wait their turn', async () => {
  const app = fastify()
  await app.register(rateLimit, { limit: 10, window: '1s', algorithm: 'leaky-bucket' })
  app.get('/', async () => 'served')
  assert.deepEqual(await statuses(app), [200, 200, 200])
})

test('requests wait for a store that never answers, until the deadline', async () => {
  const never = () => new Promise<never>(() => {})
  const ledger = { decide: never, change: never }
  const inner = memoryStore()
  const store = { mode: 'async' as const, open: () => ledger, close: () => inner.close() }
  const app = fastify()
  await app.register(rateLimit, { store, limit: 2, window: '1h', deadline: 200 })
  app.get('/', async () => 'served')
  assert.deepEqual(await statuses(app), [200, 200, 429])
})

test('a caller that leaves during a stream frees its slot after hold', async () => {
  const leaves = (['GET', 'POST'] as const).flatMap((method) =>
    [true, false].map((aborts) => leave(method, aborts)),
  )
  await Promise.all(leaves)
})

test('a stream that fails has ended', async () => {
  const app = fastify()
  await app.register(rateLimit, { concurrent: 1, hold: '1h' })
  app.get('/', (_, reply) => reply.send(Readable.from(failing())))
  await assert.rejects(app.inject('/'))
  await untilFree(app, 'of a stream that has failed')
})

async function* failing() {
  yield 'part'
  await new Promise(setImmediate)
  throw new Error('failed')
}

async function leave(method: 'GET' | 'POST', aborts: boolean): Promise<void> {
  const app = fastify()
  await app.register(rateLimit, { concurrent: 1, hold: '1s' })
  app.route({ method, url: '/', handler: (_, reply) => reply.send(Readable.from(endless())) })
  const caller = new AbortController()
  const options = { method, url: '/', signal: caller.signal, payloadAsStream: true } as const
  const body = (await app.inject(options)).stream().on('error', () => {})
  for await (const _ of body.iterator({ destroyOnReturn: false })) break
  assert.equal((await app.inject({ method, url: '/' })).statusCode, 429)
  if (aborts) caller.abort()
  else body.destroy()
  await untilFree(app, `${method}, ${aborts ? 'aborted' : 'destroyed'}`)
}

async function* endless() {
  for (;;) {
    yield 'part '
    await new Promise(setImmediate)
  }
}

async function untilFree(app: FastifyInstance, which: string): Promise<void> {
  const isFree = async () => (await app.rateLimit.peek('127.0.0.1')).remaining === 1
  await until(isFree, { withinMs: 10_000, what: `the slot is free: ${which}` })
}
