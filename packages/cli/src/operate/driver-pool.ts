import { messageOf } from '@sluice/terminal/say'
import type { Connection } from './connection.ts'
import type { Health } from './health.ts'

/** The methods that pools of both drivers have. */
interface DriverPool {
  query(sql: string): Promise<unknown>
  end(): Promise<void>
}

/** Connects once. @throws what the server or the network says; the pool is ended then */
export async function tryPool<P extends DriverPool>(server: string, pool: P): Promise<P> {
  try {
    await pool.query('SELECT 1')
    return pool
  } catch (error) {
    await pool.end()
    // Of several addresses that fail, Node's error has no message of its own.
    const errors = error instanceof AggregateError ? error.errors : [error]
    throw new Error(`${server}: ${errors.map(messageOf).join('; ')}`)
  }
}

/** @param facts what a server says of itself */
export function poolConnection(
  store: Connection['store'],
  pool: DriverPool,
  facts: () => Promise<Omit<Health, 'latencyMs'>>,
): Connection {
  return {
    store,
    async health() {
      const began = performance.now()
      await pool.query('SELECT 1')
      return [{ latencyMs: performance.now() - began, ...(await facts()) }]
    },
    close() {
      store.close()
      void pool.end()
    },
  }
}
