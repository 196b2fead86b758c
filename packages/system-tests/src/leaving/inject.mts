// Run by Node's own test runner: requests without a socket, which nothing but a limiter's timer
// keeps alive while they wait.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, rateLimit } from '@sluice/fastify'
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
