// Asks a limiter so many times a second: prints what it took, as a line of JSON. Its argument is a task.

import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createLimiter } from '@sluice/core'
import { Redis } from 'ioredis'
import { redisContenders } from '../contenders/redis.ts'

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

const task: LeaseTask = JSON.parse(process.argv[2] as string)
const client = new Redis(task.url)
const decide = task.peer === undefined ? ours() : peer(task.peer)
const tookMicros: number[] = []
let admitted = 0
let asking = 0

function ours(): (key: string) => Promise<boolean> {
  const limiter = createLimiter({
    store: client,
    prefix: task.prefix,
    limit: task.limit,
    window: '1s',
    deadline: '10s',
    ...(task.lease > 0 && { lease: task.lease }),
  })
  return async (key) => (await limiter.consume(key)).allowed
}

function peer(name: string): (key: string) => Promise<boolean> {
  const count = redisContenders[name]?.(client)
  return async (key) => {
    await count?.(`${task.prefix}:${key}`)
    return true
  }
}

async function ask(key: string): Promise<void> {
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
tookMicros.sort((a, b) => a - b)
const costs: LeaseCosts = {
  asked: tookMicros.length,
  admitted,
  micros: user + system,
  median: tookMicros[tookMicros.length >> 1] as number,
}
console.log(JSON.stringify(costs))
