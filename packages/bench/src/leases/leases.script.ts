import { setTimeout as delay } from 'node:timers/promises'
import { createLimiter } from '@sluice/core'
import { Redis } from 'ioredis'
import { redisContenders } from '../contenders/redis.ts'
import { defineTask } from '../processes/task.ts'
import { median } from '../statistics/quartiles.ts'

export interface LeaseTask {
  readonly url: string
  readonly prefix: string
  /** Units in a second, of all processes together. */
  readonly limit: number
  /** ms; 0: no leases. */
  readonly lease: number
  /** A contender of another package, in place of ours. It counts, and refuses nothing. */
  readonly peer?: string | undefined
  /** How many keys are asked for, in turns. */
  readonly keys: number
  /** Requests of this process in a second. */
  readonly rate: number
  /** Requests before `from`, ms since the epoch, do not count. */
  readonly from: number
  readonly until: number
}

export interface LeaseCosts {
  readonly asked: number
  readonly admitted: number
  /** CPU of the process, µs. */
  readonly micros: number
  /** How long decisions took, µs, half of them less. */
  readonly median: number
}

/** Asks a limiter so many times a second. */
defineTask(async (task: LeaseTask): Promise<LeaseCosts> => {
  const client = new Redis(task.url)
  const decide = task.peer === undefined ? ours(client, task) : peer(client, task.peer, task)
  const tookMicros: number[] = []
  let admitted = 0
  let asking = 0

  const ask = async (key: string) => {
    const isMeasured = Date.now() >= task.from
    const from = performance.now()
    asking += 1
    const allowed = await decide(key)
    asking -= 1
    if (!isMeasured) return
    tookMicros.push((performance.now() - from) * 1000)
    if (allowed) admitted += 1
  }

  await client.ping()
  const begunAt = performance.now()
  let sent = 0
  let before: NodeJS.CpuUsage | undefined
  while (Date.now() < task.until) {
    if (before === undefined && Date.now() >= task.from) before = process.cpuUsage()
    const due = Math.floor(((performance.now() - begunAt) * task.rate) / 1000)
    for (; sent < due; sent += 1) void ask(`tenant-${sent % task.keys}`)
    await delay(1)
  }
  const { user, system } = process.cpuUsage(before)
  while (asking > 0) await delay(1)
  await client.quit()
  const asked = tookMicros.length
  return { asked, admitted, micros: user + system, median: median(tookMicros) }
})

type Decide = (key: string) => Promise<boolean>

function ours(store: Redis, { prefix, limit, lease }: LeaseTask): Decide {
  const limiter = createLimiter({
    store,
    prefix,
    limit,
    window: '1s',
    deadline: '10s',
    ...(lease > 0 && { lease }),
  })
  return async (key) => (await limiter.consume(key)).allowed
}

function peer(client: Redis, name: string, { prefix }: LeaseTask): Decide {
  const count = redisContenders[name]?.(client)
  return async (key) => {
    await count?.(`${prefix}:${key}`)
    return true
  }
}
