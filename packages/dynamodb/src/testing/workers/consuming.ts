import type { StoreResult } from '@sluice/core'
import { algorithms } from '@sluice/core/algorithms'
import { defineWorker } from '@sluice/test-harness/processes'
import { dynamodbStore } from '../../index.ts'
import { clientOf } from '../client.ts'

export interface Work {
  readonly endpoint: string
  /** Requests of this process. */
  readonly times: number
  readonly limit: number
  readonly prefix: string
  /** How many are asked at the same time. */
  readonly atOnce: number
  /** The clients of a request, one for each policy. */
  readonly keys: readonly string[]
  /** The process of this number kills itself in the middle. */
  readonly killed?: number
}

/** Gives how many requests were admitted here. */
defineWorker(async (work: Work, number) => {
  const client = clientOf(work.endpoint)
  const algorithm = algorithms['fixed-window']
  const limit = algorithm.compile({ limit: work.limit, windowMs: 86_400_000 })
  const keyspaces = work.keys.map((_, i) => ({ name: `p${i}`, algorithm }))
  const ledger = dynamodbStore(client).open(keyspaces, work.prefix, 60_000)
  const charges = work.keys.map((key) => ({ key, limit, cost: 1 }))
  await ledger.decide([charges], true)
  return async () => {
    let admitted = 0
    let asked = 0
    const ask = async () => {
      while (asked < work.times) {
        asked += 1
        if (number === work.killed && asked > work.times / 2) process.kill(process.pid, 'SIGKILL')
        const [result] = (await ledger.decide([charges])) as [StoreResult]
        if (result.admitted) admitted += 1
      }
    }
    await Promise.all(Array.from({ length: work.atOnce }, ask))
    client.destroy()
    return admitted
  }
})
