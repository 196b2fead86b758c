/** A signal that the process has too much to do. */
export type OverloadSignal = 'latency' | 'event-loop-delay' | 'event-loop-utilization' | 'heap'

/** A request that has ended. */
export interface Ended {
  /** When it began. */
  readonly at: number
  /** At least 1. */
  readonly ms: number
  /** How many were in progress when it began, itself included. */
  readonly active: number
}

/** The requests of one kind, a route or a class, in a window. */
export interface KindSample {
  readonly kind: string
  readonly ended: readonly Ended[]
  /** The clients of those that lost their places, because they take long. */
  readonly late: ReadonlySet<string>
}

/** The measurements since the step before. */
export interface Sample {
  readonly kinds: readonly KindSample[]
  /** How long the requests were observed, ms; 0: too short to say anything. */
  readonly windowMs: number
  /** The most requests that were in progress at the same time. */
  readonly mostActive: number
  /** Whether a request found no place. */
  readonly isLimited: boolean
  /** When the oldest of the requests that hold a place began. */
  readonly oldestAt: number
  /** How late a timer of the event loop was, ms. */
  readonly delayMs: number
  /** The share of the heap's limit that is in use. */
  readonly heap: number
}

/** What requests of a kind usually take. */
export interface Usual {
  /** Undefined until the first ones have ended. */
  readonly ms: number | undefined
  /** The requests that began first, as far as they have ended. */
  readonly first: readonly Ended[]
}

/** The state of the control loop. Times are those of a monotonic clock, ms. */
export interface Control {
  /** The most requests in progress, at least 1. A fraction counts as nothing until it is whole. */
  readonly limit: number
  /** The signal that has set the limit. */
  readonly signal: OverloadSignal
  /** Whether the heap is nearly full, so that no request may wait. */
  readonly isHeapFull: boolean
  /** The latency of each kind while nothing waits for anything, ms. */
  readonly usual: ReadonlyMap<string, Usual>
  /** The mean of the logarithms of the latencies: among many short ones, a few long ones hardly change it. In ms; 0: unknown. */
  readonly latencyMs: number
  /** How many were in progress, and how slow they were, when they became slow or when that was last less than half. */
  readonly crowd: { readonly active: number; readonly slowness: number } | undefined
  /** Requests that began before say nothing: an interruption came. */
  readonly judgedSince: number
  /** The last delays, newest first. */
  readonly delays: readonly number[]
  /** The last shares of the heap, newest first. */
  readonly heaps: readonly number[]
  /** Whether the window before was interrupted, so that its latencies say nothing. */
  readonly isStalled: boolean
  /** Whether requests took longer than usual when some ended last. */
  readonly isSlow: boolean
}

/** The limit of a process that has seen nothing yet. */
const FIRST_LIMIT = 20
const MAX_LIMIT = 10_000
/** Requests may take so many times their usual latency before the limit falls. */
const TOLERANCE = 1.3
/** Below so many times their usual latency, nothing waits for anything: the limit doubles. */
const NO_QUEUE = 1.2
/** The part of a new limit that a step takes over. */
const SMOOTHING = 0.6
/** While nothing is known, the limit doubles in so long, ms. */
const DOUBLES_MS = 500
/** While all find a place, there are at least so many places for each request in progress. */
const SPARE = 1.5
/** If half as many take more than this share of the time, they did not wait for one another. */
const STILL = 0.75
/** How much of the mean of a window without a queue the usual latency takes over. */
const LEARN = 0.1
/** How much of the typical latency each request changes. */
const LEARN_MOST = 0.02
/** So many requests are needed to judge a latency. */
const ENOUGH = 10
/** The event loop is too slow if its last two delays are longer, ms. One alone may be a garbage collection. */
const SLOW_LOOP_MS = 100
/** An interruption: what was in progress took longer for a reason that has passed, ms. */
const STALL_MS = 200
/** The share of the heap from which on it is nearly full, and below which it is no longer. */
const FULL_HEAP = 0.92
const FREE_HEAP = 0.85
/** So many of the last windows must agree that the heap is full. */
const SUSTAINED = 5
/** A request is long if it takes longer than that, ms, and loses its place if it also takes `LONG` times what most take. */
export const LONG_MS = 1000
export const LONG = 8
/** A full heap multiplies the limit by this in each step; a slow event loop leaves at least half. */
const BACK_OFF = 0.8
/** The most kinds whose latency is remembered. */
const MAX_KINDS = 500

export const firstControl: Control = {
  limit: FIRST_LIMIT,
  signal: 'latency',
  isHeapFull: false,
  usual: new Map(),
  latencyMs: 0,
  crowd: undefined,
  judgedSince: 0,
  delays: [],
  heaps: [],
  isStalled: false,
  isSlow: false,
}

/**
 * The loop of control: how many requests may be in progress, after what was seen in a window.
 *
 * Latencies are compared with what is usual, and with how many requests were in progress when they began: if they took
 * three times as long, the others only waited, and a third of as many is served as well (the gradient of Netflix'
 * concurrency-limits and of Envoy, by Little's law). The limit rises while requests find no place and take no longer
 * than usual. What is usual is learnt from the first ones, and while the limit is not reached.
 */
export function step(before: Control, sample: Sample, now: number): Control {
  const seen = observe(before, sample, now)
  if (seen.isStalled || sample.windowMs === 0) return hard(seen, seen.limit)
  const { slowness, active, hanging, isEmpty } = judge(seen, sample.kinds)
  const isSlow = isEmpty ? seen.isSlow : slowness > NO_QUEUE
  const learnt = {
    ...seen,
    isSlow,
    usual: learn(seen, sample),
    crowd: isSlow ? seen.crowd : undefined,
  }
  if (isSlow && !isEmpty && hanging === 0) {
    const { crowd = { active: Infinity, slowness: Infinity } } = seen
    if (active <= crowd.active / 2) {
      // With half as many in progress they would take half as long if they had waited for one another.
      if (slowness > STILL * crowd.slowness)
        return { ...learnt, usual: slower(learnt.usual, slowness), crowd: undefined }
      learnt.crowd = { active, slowness }
    }
  }
  const isCrowded = sample.isLimited || sample.mostActive >= seen.limit / 2
  // Requests that have not ended yet may only be slow: what they wait for is known when some have ended.
  const wanted =
    !isCrowded || (isEmpty && isSlow)
      ? seen.limit
      : isSlow
        ? nextLimit(seen.limit, active / slowness)
        : isEmpty
          ? seen.limit * 2 ** Math.min(1, sample.windowMs / DOUBLES_MS)
          : Math.max(seen.limit, 2 * active)
  // While all find a place, there need not be many more places than requests, nor fewer.
  const most = sample.isLimited ? MAX_LIMIT : Math.max(seen.limit, 2 * sample.mostActive)
  const least = sample.isLimited ? 1 : Math.min(seen.limit, SPARE * sample.mostActive)
  const limit = Math.min(Math.max(wanted, least), most)
  return hard({ ...learnt, limit, signal: 'latency' }, seen.limit)
}

/**
 * The latencies of most requests of a kind: those of one class may be of two sorts, and a few that take long say
 * nothing of the others.
 */
function mostOf(times: readonly Ended[]) {
  const short = times.filter(({ ms }) => ms <= LONG_MS)
  const counted = 2 * short.length >= times.length ? short : times
  return {
    requests: counted.length,
    totalMs: counted.reduce((sum, { ms }) => sum + ms, 0),
    active: counted.reduce((sum, { active }) => sum + active, 0),
  }
}

/** Takes over the facts of one window: its delay, the heap, and whether its latencies count. */
function observe(before: Control, { delayMs, heap, kinds }: Sample, now: number): Control {
  const delays = [delayMs, ...before.delays].slice(0, 2)
  const heaps = [heap, ...before.heaps].slice(0, SUSTAINED)
  const isStalled = delayMs > STALL_MS && (before.delays[0] ?? 0) < SLOW_LOOP_MS
  let { latencyMs } = before
  if (!isStalled)
    for (const { ended } of kinds)
      for (const { ms } of ended)
        latencyMs = latencyMs === 0 ? ms : latencyMs * (ms / latencyMs) ** LEARN_MOST
  const isHeapFull =
    heaps.length === SUSTAINED && Math.min(...heaps) > (before.isHeapFull ? FREE_HEAP : FULL_HEAP)
  const judgedSince = isStalled ? now : before.judgedSince
  return { ...before, delays, heaps, isStalled, judgedSince, latencyMs, isHeapFull }
}

/**
 * How many clients have a request that hangs: of a kind whose requests were fast, most no longer end. A kind that
 * has always taken long is not known, and one client alone says little while others are served.
 */
function hangingOf({ usual }: Control, { kind, ended, late }: KindSample): number {
  const ms = usual.get(kind)?.ms ?? Infinity
  return ms <= LONG_MS && late.size > 2 * (ended.length + 1) ? late.size : 0
}

/**
 * How many times their usual latency the requests of a window took, 1 if there are none, and how many were in progress
 * when they began.
 */
function judge(seen: Control, kinds: readonly KindSample[]) {
  let took = 0
  let expected = 0
  let requests = 0
  let active = 0
  let hung = 0
  for (const each of kinds) {
    const usualMs = seen.usual.get(each.kind)?.ms
    if (usualMs === undefined) continue
    const judged = mostOf(each.ended)
    const hanging = hangingOf(seen, each)
    if (judged.requests + hanging === 0) continue
    took += judged.totalMs + hanging * LONG_MS
    expected += (judged.requests + hanging) * usualMs
    requests += judged.requests + hanging
    active += judged.active + hanging * seen.limit
    hung += hanging
  }
  if (requests === 0) return { isEmpty: true, slowness: 1, active: 0, hanging: 0 }
  return { isEmpty: false, slowness: took / expected, active: active / requests, hanging: hung }
}

/** @param served how many of those in progress do not only wait */
function nextLimit(limit: number, served: number): number {
  const next = Math.min(limit, served * TOLERANCE) + Math.sqrt(limit)
  return Math.min(MAX_LIMIT, Math.max(1, limit + SMOOTHING * (next - limit)))
}

/** Learns what is usual: from the first requests, then from windows in which all found a place. */
function learn(
  { usual: before }: Control,
  { kinds, isLimited, oldestAt }: Sample,
): Control['usual'] {
  const usual = new Map(before)
  for (const { kind, ended } of kinds) {
    const known = usual.get(kind)
    let ms = known?.ms
    const { requests, totalMs } = mostOf(ended)
    if (requests === 0) continue
    if (ms === undefined) {
      const first = [...(known?.first ?? []), ...ended].sort((one, other) => one.at - other.at)
      if (known !== undefined || usual.size < MAX_KINDS)
        usual.set(kind, { ms, first: first.slice(0, ENOUGH) })
      continue
    }
    const mean = totalMs / requests
    if (!isLimited) ms += LEARN * Math.min(1, requests / ENOUGH) * (mean - ms)
    usual.set(kind, { ms, first: [] })
  }
  for (const [kind, { first }] of usual)
    if (first.length === ENOUGH && (first.at(-1) as Ended).at < oldestAt) {
      const { requests, totalMs } = mostOf(first)
      usual.set(kind, { ms: totalMs / requests, first: [] })
    }
  return usual
}

/** The service takes so many times as long as before. */
function slower(usual: Control['usual'], factor: number): Control['usual'] {
  return new Map(
    [...usual].map(([kind, { ms, first }]) => [
      kind,
      { ms: ms === undefined ? ms : ms * factor, first },
    ]),
  )
}

/** Lowers the limit however long requests take, while the event loop is late or the heap is full. */
function hard(next: Control, limit: number): Control {
  const delayMs = next.delays.length < 2 ? 0 : Math.min(...next.delays)
  const isLate = delayMs > SLOW_LOOP_MS
  if (!isLate && !next.isHeapFull) return next
  const factor = Math.max(0.5, Math.min(isLate ? SLOW_LOOP_MS / delayMs : 1, BACK_OFF))
  const signal = next.isHeapFull ? 'heap' : 'event-loop-delay'
  return { ...next, signal, limit: Math.max(1, Math.min(next.limit, limit) * factor) }
}
