import { COUNTING, OURS } from '../contenders/sluice.ts'
import { judge, least, samplesOf, times } from '../report/bar.ts'
import { type Bar, isPeer, type Measurement } from '../report/results.ts'
import { differences, median } from '../statistics/quartiles.ts'
import type { MemoryMeasurements } from './memory.ts'

const FASTEST_INCREMENT = '@fastify/rate-limit LocalStore.incr'
const FLEXIBLE = 'rate-limiter-flexible RateLimiterMemory.consume'
const MAP = 'floor: Map.get'

export function memoryBars(measured: MemoryMeasurements): Bar[] {
  const { few, many, heap } = measured
  return [
    ...COUNTING.flatMap((algorithm) => [
      timeBar(few, algorithm, `less than ${FASTEST_INCREMENT}`, FASTEST_INCREMENT, 1),
      timeBar(few, algorithm, `less than half of ${FLEXIBLE}`, FLEXIBLE, 1 / 2),
    ]),
    ...COUNTING.map((algorithm) => {
      const peer = least(many.rows.filter(isPeer)).contender
      return timeBar(many, algorithm, `less than the fastest peer, ${peer}`, peer, 1)
    }),
    ...COUNTING.map((algorithm) =>
      judge({
        work: `Heap for a key, ${algorithm}`,
        bar: 'at most 64 bytes',
        unit: 'bytes',
        ours: samplesOf(heap.rows, `sluice ${algorithm}`),
        allowed: 64,
      }),
    ),
    ...COUNTING.map((algorithm) => allocationBar(measured.allocations, algorithm)),
    pauseBar(measured.pauses, 'sweeping when all keys expire at once'),
    pauseBar(measured.pauses, 'evicting when the store is full'),
    policiesBar(few),
    keysBar(few, many),
  ]
}

function timeBar(of: Measurement, algorithm: string, bar: string, peer: string, factor: number) {
  const allowed = times(factor, samplesOf(of.rows, peer))
  const ours = samplesOf(of.rows, `sluice ${algorithm}`)
  return judge({ work: `${of.title}, ${algorithm}`, bar, unit: 'ns', ours, allowed })
}

function allocationBar({ title, rows }: Measurement, algorithm: string): Bar {
  return judge({
    work: `${title}, ${algorithm}`,
    bar: 'at most its decision',
    unit: 'bytes',
    ours: samplesOf(rows, `sluice ${algorithm}`),
    allowed: samplesOf(rows, `sluice ${algorithm}: its decision`),
  })
}

function pauseBar({ rows }: Measurement, of: string): Bar {
  const asked = { work: `Longest pause, ${of}`, bar: 'at most 2 ms', unit: 'ms' } as const
  const bar = judge({ ...asked, ours: samplesOf(rows, of), allowed: 2 })
  // A machine that holds up a process which does nothing tells nothing of the store.
  const isNoise = median(samplesOf(rows, 'control: the machine itself')) > 2
  return bar.verdict === 'fail' && isNoise ? { ...bar, verdict: 'not distinguishable' } : bar
}

function policiesBar({ title, rows }: Measurement): Bar {
  return judge({
    work: `${title}, each of 10 policies`,
    bar: 'at most 1.5 times the cost of a single policy',
    unit: 'ns',
    ours: times(1 / 10, samplesOf(rows, `${OURS}, 10 policies`)),
    allowed: times(1.5, samplesOf(rows, OURS)),
  })
}

function keysBar(few: Measurement, many: Measurement): Bar {
  const growth = (contender: string) =>
    differences(samplesOf(many.rows, contender), samplesOf(few.rows, contender))
  return judge({
    work: 'One count in memory: what many keys cost more than few',
    bar: 'at most what they cost a Map more',
    unit: 'ns',
    ours: growth(OURS),
    allowed: growth(MAP),
  })
}
