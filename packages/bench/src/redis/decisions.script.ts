import { once } from 'node:events'
import { Cluster, Redis } from 'ioredis'
import { redisContenders } from '../contenders/redis.ts'
import { makeKeys, mix } from '../memory/keys.ts'
import { defineContender } from '../processes/task.ts'
import { quantile } from '../statistics/quartiles.ts'
import { inTurn, type Pattern, patterns } from './patterns.ts'
import { usageOf } from './usage.ts'

export interface DecisionsTask {
  readonly contender: string
  /** Ports on loopback: of a server, or of the masters of a cluster. */
  readonly ports: readonly number[]
  readonly keys: number
  readonly pattern: Pattern
  /** The number of decisions in each measurement. */
  readonly decisions: number
}

/** The cost of one decision. */
export interface DecisionCost {
  readonly scriptMicros: number
  readonly redisMicros: number
  readonly nodeMicros: number
  readonly calls: number
  readonly bytes: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const HOST = '127.0.0.1'
/** Calls that the engine needs before it has compiled what each of them runs. */
const WARM_UP = 10_000

defineContender(async (task: DecisionsTask) => {
  const { contender, ports, decisions } = task
  const nodes = ports.map((port) => ({ host: HOST, port }))
  const servers = ports.map((port) => new Redis(port, HOST))
  const client = nodes.length > 1 ? new Cluster(nodes) : new Redis(ports[0] as number, HOST)
  await once(client, 'ready')
  const make = redisContenders[contender]
  if (make === undefined) throw new Error(`no contender ${contender}`)
  const next = inTurn(make(client), mix(makeKeys(task.keys)))
  const run = patterns[task.pattern]
  // Every key gets its state.
  await patterns['50 in a turn'](next, task.keys)
  // Requests of a turn may share a call: in any other pattern some contenders would make few.
  await patterns['one at a time'](next, WARM_UP)

  return async (): Promise<DecisionCost> => {
    const before = await usageOf(servers)
    const cpu = process.cpuUsage()
    const latencies = await run(next, decisions)
    const { user, system } = process.cpuUsage(cpu)
    const after = await usageOf(servers)
    return {
      scriptMicros: (after.scriptMicros - before.scriptMicros) / decisions,
      redisMicros: (after.cpuMicros - before.cpuMicros) / decisions,
      nodeMicros: (user + system) / decisions,
      calls: (after.calls - before.calls) / decisions,
      bytes: (after.bytes - before.bytes) / decisions,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
    }
  }
})
