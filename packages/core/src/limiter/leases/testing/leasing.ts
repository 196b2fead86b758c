import { setImmediate as turn } from 'node:timers/promises'
import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions } from '../../../index.ts'

export interface LeasingWork {
  url: string
  options: Pick<LimiterOptions, 'limit' | 'window' | 'algorithm' | 'prefix'>
  /** ms; left out: no leases. */
  lease?: number
  /** Requests in a turn of the event loop. */
  atOnce: number
}

/** What a process got. */
export interface Got {
  admitted: number
  asked: number
  /** Calls of the store: the commands that its client has sent. */
  calls: number
}

/** How long a process goes on asking after its first refusal, in leases: until others have given back. */
const PATIENCE = 4
const USUAL_LEASE_MS = 250

/** Asks for one key until nothing is left. */
defineWorker(async ({ url, options, lease, atOnce }: LeasingWork) => {
  const client = new Redis(url)
  await client.ping()
  let calls = 0
  const { sendCommand } = client
  client.sendCommand = function (...given) {
    calls += 1
    return sendCommand.apply(this, given)
  }
  const limiter = createLimiter({ ...patient, ...options, lease, store: client })
  return async (): Promise<Got> => {
    let [admitted, asked] = [0, 0]
    let endsAt = Infinity
    while (performance.now() < endsAt) {
      const asking = Array.from({ length: atOnce }, () => limiter.consume('client'))
      const decisions = await Promise.all(asking)
      const allowed = decisions.filter((decision) => decision.allowed).length
      asked += atOnce
      admitted += allowed
      if (allowed < atOnce && endsAt === Infinity)
        endsAt = performance.now() + PATIENCE * (lease ?? USUAL_LEASE_MS)
      await turn()
    }
    limiter.close()
    await client.quit()
    return { admitted, asked, calls }
  }
})
