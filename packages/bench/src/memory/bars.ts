import { COUNTING, OURS } from '../contenders/sluice.ts'
import { bound, floor, goal } from '../report/bar.ts'
import { rowOf } from '../report/measurement.ts'
import type { Bar, Measurement } from '../report/results.ts'

const FASTEST_INCREMENT = '@fastify/rate-limit LocalStore.incr'

export function memoryBars(few: Measurement, allocated: Measurement): Bar[] {
  const peer = rowOf(few, FASTEST_INCREMENT)
  const ours = COUNTING.map((algorithm) => `sluice ${algorithm}`)
  return [
    ...ours.map((name) => {
      const claim = name === OURS ? 'a decision in memory' : undefined
      return goal(few, rowOf(few, name), 1, peer, claim)
    }),
    floor(few, rowOf(few, 'floor: Map.get'), peer),
    ...ours.map((name) => {
      const row = rowOf(allocated, name)
      return goal(allocated, row, 1, bound(row, '160 bytes', 160))
    }),
  ]
}
