import type { Cores } from './core.ts'
import { Draw } from './draw.ts'
import type { Exchange } from './exchange.ts'
import type { Fault, Plan } from './plan.ts'
import { simulate } from './simulation.ts'

/** A fault without its time. */
type Kind = Fault extends infer Each ? (Each extends Fault ? Omit<Each, 'at'> : never) : never

const FAULT_MS = 2000
const HOUR_MS = 3_600_000
const LIMIT = 40
const REQUEST_EVERY_MS = 20
const DURATION_MS = 9000

/** Faults that are measured, by what they are called. */
const FAULTS: { readonly [name: string]: Kind } = {
  'the store is killed, back without its data': { kind: 'restart', ms: FAULT_MS },
  'the store is killed, back with its data': { kind: 'restart', ms: FAULT_MS, lost: 0 },
  'a failover loses the last second': { kind: 'restart', ms: FAULT_MS, lost: 1000 },
  'the store is frozen': { kind: 'freeze', ms: FAULT_MS },
  'the network swallows requests': { kind: 'lose requests', process: 0, ms: FAULT_MS },
  'replies are lost after execution': { kind: 'lose replies', process: 0, ms: FAULT_MS },
  'slow by 60 ms': { kind: 'slow server', ms: FAULT_MS, by: 60 },
  'slow by 150 ms': { kind: 'slow server', ms: FAULT_MS, by: 150 },
  'out of memory': { kind: 'out of memory', ms: FAULT_MS },
  READONLY: { kind: 'read only', ms: FAULT_MS },
  'a connection is reset': { kind: 'reset connection', process: 0 },
  'a client sends again what had run': { kind: 'send twice', process: 0 },
  'the key of a client evicted': { kind: 'evict' },
  "the store's clock an hour ahead": { kind: 'server clock', by: HOUR_MS },
  "the store's clock an hour back": { kind: 'server clock', by: -HOUR_MS },
  'own clock an hour ahead': { kind: 'process clock', process: 0, by: HOUR_MS },
}

/** What one simulation has shown. */
interface Measured {
  /** The longest that a request waited, ms. */
  readonly waitedMs: number
  /** Units admitted above the limit. */
  readonly beyond: number
  /** From the end of the fault until the store decided again, ms; undefined: it never stopped. */
  readonly normalMs: number | undefined
}

/**
 * Measures each fault in so many simulations.
 *
 * @returns the lines of a table, as soon as each is known: of each measurement the median and the worst
 * @throws Error if a check fails
 */
export async function* report(cores: Cores, seeds: number): AsyncGenerator<string> {
  yield '| fault | longest wait | beyond the limit | normal again after |'
  yield '|---|---|---|---|'
  for (const [name, kind] of Object.entries(FAULTS)) {
    const all: Measured[] = []
    for (let seed = 1; seed <= seeds; seed += 1) all.push(await measure(cores, seed, kind))
    const waits = all.map(({ waitedMs }) => waitedMs)
    const beyond = all.map((each) => each.beyond)
    const normal = all.flatMap(({ normalMs }) => normalMs ?? [])
    const again = normal.length > seeds / 2 ? `${summary(normal)} ms` : '–'
    yield `| ${name} | ${summary(waits)} ms | ${summary(beyond)} | ${again} |`
  }
}

async function measure(cores: Cores, seed: number, kind: Kind): Promise<Measured> {
  const plan = planOf(seed, kind)
  const [fault] = plan.faults as [Fault]
  const overAt = fault.at + ('ms' in fault ? (fault.ms ?? 0) : 0)
  const measured = { waitedMs: 0, beyond: 0, normalMs: undefined as number | undefined }
  let admitted = 0
  let stopped = false
  const watch = ({ decision, arrivedAt, decidedAt, planned }: Exchange) => {
    if (planned.client !== 'ada') return
    measured.waitedMs = Math.max(measured.waitedMs, decidedAt - arrivedAt)
    if (decision?.allowed) admitted += 1
    measured.beyond = Math.max(0, admitted - LIMIT)
    if (decision?.source === 'local') {
      stopped = true
      measured.normalMs = undefined
    } else if (stopped && decidedAt >= overAt) measured.normalMs ??= decidedAt - overAt
  }
  const { failure } = await simulate(plan, cores, { watch })
  if (failure !== undefined)
    throw new Error(`${kind.kind}, seed ${seed}: ${failure.check}: ${failure.what}`)
  return measured
}

/** One process, and a client that never stops asking. */
function planOf(seed: number, kind: Kind): Plan {
  const draw = new Draw(seed)
  const first = draw.integer(0, 1000)
  const at = first + draw.integer(0, 2000)
  const requests: Plan['requests'][number][] = []
  for (let next = first; next < DURATION_MS; next += REQUEST_EVERY_MS) {
    const workMs = draw.integer(0, 5)
    requests.push({ at: next, process: 0, client: 'ada', cost: 1, actual: 1, workMs })
  }
  return {
    seed,
    duration: DURATION_MS,
    application: {
      processes: 1,
      policies: [{ name: 'default', algorithm: 'sliding-log', limit: LIMIT, window: 60_000 }],
      deadline: 100,
      onStoreError: 'local',
      localShare: 1,
      refusalCache: false,
      joins: false,
      queuesOffline: draw.chance(0.5),
    },
    requests,
    faults: [{ at, ...kind } as Fault],
  }
}

/** The median and the worst. */
function summary(values: readonly number[]): string {
  const sorted = values.map(Math.round).sort((one, other) => one - other)
  return `${sorted[sorted.length >> 1]}, ${sorted.at(-1)}`
}
