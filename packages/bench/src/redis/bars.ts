import { FLOOR, FLOOR_OF_3, OURS_OF_3, RATE_LIMIT_REDIS } from '../contenders/redis.ts'
import { COUNTING, OURS } from '../contenders/sluice.ts'
import { floor, goal } from '../report/bar.ts'
import { bestPeer, rowOf } from '../report/measurement.ts'
import type { Bar, Measurement } from '../report/results.ts'

interface Single {
  readonly script: Measurement
  readonly redisCpu: Measurement
  readonly nodeCpu: Measurement
}

export function singleBars({ script, redisCpu, nodeCpu }: Single): Bar[] {
  const peer = rowOf(script, RATE_LIMIT_REDIS)
  return [
    ...scriptBars(script, RATE_LIMIT_REDIS),
    goal(script, rowOf(script, OURS_OF_3), 2.5, peer),
    floor(script, rowOf(script, FLOOR_OF_3), peer),
    ...cpuBars(redisCpu, 1.05, 'in Redis with one request at a time'),
    ...cpuBars(nodeCpu, 1.05, 'in Node with one request at a time on Redis'),
  ]
}

/** Each algorithm but the log, with one policy. */
export function scriptBars(script: Measurement, peerName: string): Bar[] {
  const peer = rowOf(script, peerName)
  return [
    ...COUNTING.map((name) => goal(script, rowOf(script, `sluice ${name}`), 1.25, peer)),
    floor(script, rowOf(script, FLOOR), peer),
  ]
}

export function crowdedBars(redisCpu: Measurement, nodeCpu: Measurement): Bar[] {
  const peer = bestPeer(redisCpu)
  return [
    ...cpuBars(redisCpu, 0.4, 'Redis, with 50 requests at once'),
    goal(redisCpu, rowOf(redisCpu, OURS_OF_3), 1, peer),
    floor(redisCpu, rowOf(redisCpu, FLOOR_OF_3), peer),
    ...cpuBars(nodeCpu, 0.45, 'Node, with 50 requests at once on Redis'),
  ]
}

function cpuBars(cpu: Measurement, atMost: number, claim: string): Bar[] {
  const peer = bestPeer(cpu)
  return [goal(cpu, rowOf(cpu, OURS), atMost, peer, claim), floor(cpu, rowOf(cpu, FLOOR), peer)]
}

export function latencyBars(...latencies: readonly Measurement[]): Bar[] {
  return latencies.flatMap((latency) => {
    const peer = bestPeer(latency)
    return [
      goal(latency, rowOf(latency, OURS), 1, peer),
      floor(latency, rowOf(latency, FLOOR), peer),
    ]
  })
}
