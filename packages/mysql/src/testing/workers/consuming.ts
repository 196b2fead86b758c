import { createLimiter } from '@sluice/core'
import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { createPool } from 'mysql2/promise'
import { mysqlStore } from '../../index.ts'

export interface Work {
  readonly url: string
  /** Requests of this process. */
  readonly times: number
  readonly limit: number
  readonly prefix: string
  /** How many are asked at the same time. */
  readonly atOnce: number
  /** The process of this number kills itself in the middle. */
  readonly killed?: number
}

/** Gives how many requests were admitted here. */
defineWorker(async ({ url, times, limit, prefix, atOnce, killed }: Work, number) => {
  const pool = createPool(url)
  const store = mysqlStore(pool)
  const limiter = createLimiter({ ...patient, store, prefix, limit, window: '1d' })
  await limiter.peek('ready')
  return async () => {
    let admitted = 0
    let asked = 0
    const ask = async () => {
      while (asked < times) {
        asked += 1
        if (number === killed && asked > times / 2) process.kill(process.pid, 'SIGKILL')
        const { allowed, source } = await limiter.consume('client')
        if (source !== 'store') throw new Error(`decided by ${source}`)
        if (allowed) admitted += 1
      }
    }
    await Promise.all(Array.from({ length: atOnce }, ask))
    await pool.end()
    return admitted
  }
})
