import { EventEmitter } from 'node:events'
import { expect, test } from '@jest/globals'
import { guardedPool, type PostgresPool } from './pool.ts'

/** A pool that lends the same client again and again, and that client. */
function lending() {
  const client = Object.assign(new EventEmitter(), { release() {}, query: async () => ({}) })
  const pool = Object.assign(new EventEmitter(), {
    totalCount: 1,
    connect: (callback: (error: undefined, lent: typeof client) => void) =>
      callback(undefined, client),
  })
  return { client, guarded: () => guardedPool(pool as unknown as PostgresPool), pool }
}

test('what is lent and given back has as many listeners as before', async () => {
  const { client, guarded, pool } = lending()
  for (let i = 0; i < 5; i += 1) {
    const { connect, release } = guarded()
    release(await connect(), false)
  }
  expect(client.listenerCount('error')).toBe(0)
  expect(pool.listenerCount('error')).toBe(1)
})

test('neither a client that is lent or broken nor the idle ones end the process by an error', async () => {
  const { client, guarded, pool } = lending()
  const { connect, release } = guarded()
  pool.emit('error', new Error('an idle connection broke'))
  const lent = await connect()
  client.emit('error', new Error('it broke'))
  release(lent, true)
  client.emit('error', new Error('and its socket was closed'))
})
