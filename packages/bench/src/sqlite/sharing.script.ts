// Several processes that decide at the same time, as fast as they can: the first one forks the others.

import cluster, { type Worker } from 'node:cluster'
import { type Places, sqliteContenders } from '../contenders/sqlite.ts'
import { inTurn, type Pattern, patterns } from '../decisions/patterns.ts'
import { makeKeys, mix } from '../memory/keys.ts'
import { defineTask } from '../processes/task.ts'
import { median, quantile } from '../statistics/quartiles.ts'

export interface SharingTask extends Places {
  readonly contender: string
  readonly processes: number
  readonly pattern: Pattern
  readonly ms: number
}

/** The cost of one decision. */
export interface SharingCost {
  /** The time divided by all decisions of all processes. */
  readonly micros: number
  /** CPU of the processes that decide. */
  readonly cpuMicros: number
  readonly p50Ms: number
  /** The 99th percentile of the process where it is the longest. */
  readonly p99Ms: number
}

interface Sample extends SharingCost {
  readonly ready: boolean
}

const KEYS = 1000

defineTask((task: SharingTask) => (cluster.isPrimary ? lead(task) : decide(task)))

/** Forks the others, and sums up what they did. */
async function lead(task: SharingTask): Promise<SharingCost> {
  sqliteContenders[task.contender]?.primary?.()
  const workers = Array.from({ length: task.processes }, () => cluster.fork())
  await Promise.all(workers.map(nextOwn))
  const samples = workers.map(nextOwn)
  for (const worker of workers) worker.send('go')
  const costs = await Promise.all(samples)
  const sum = (of: (cost: Sample) => number) => costs.reduce((total, cost) => total + of(cost), 0)
  return {
    micros: 1 / sum(({ micros }) => 1 / micros),
    cpuMicros: sum(({ cpuMicros }) => cpuMicros) / costs.length,
    p50Ms: median(costs.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...costs.map(({ p99Ms }) => p99Ms)),
  }
}

async function decide({ contender, pattern, ms, ...places }: SharingTask): Promise<Sample> {
  const make = sqliteContenders[contender]?.make
  if (make === undefined) throw new Error(`no contender ${contender}`)
  const next = inTurn(await make(places), mix(makeKeys(KEYS)))
  const run = patterns[pattern]
  await run(next, 1000)
  const isReleased = new Promise<void>((resolve) => {
    process.on('message', (message) => message === 'go' && resolve())
  })
  process.send?.({ ready: true })
  await isReleased
  const latencies: number[] = []
  const cpu = process.cpuUsage()
  const began = performance.now()
  while (performance.now() < began + ms) latencies.push(...(await run(next, 50)))
  const took = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  return {
    ready: true,
    micros: (took * 1000) / latencies.length,
    cpuMicros: (user + system) / latencies.length,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  }
}

/** The next message of a worker that is ours: the peers send their own, too. */
function nextOwn(worker: Worker): Promise<Sample> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => message?.ready === true && resolve(message))
    worker.once('exit', (code) => reject(new Error(`a process ended: ${code}`)))
  })
}
