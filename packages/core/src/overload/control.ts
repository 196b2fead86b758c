/** A signal that the process has too much to do. */
export type OverloadSignal = 'latency' | 'event-loop-delay' | 'event-loop-utilization' | 'heap'

/** The requests of one kind, a route or a class, in a window. */
export interface KindSample {
  readonly kind: string
  /** The latencies of all that ended, ms, and of those among them that began since the limit fell last. */
  readonly ended: readonly number[]
  readonly judged: readonly number[]
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
  /** How late a timer of the event loop was, ms. */
  readonly delayMs: number
  /** The share of the heap's limit that is in use. */
  readonly heap: number
}

/** What requests of a kind usually take. */
export interface Usual {
  readonly ms: number
  /** When the first of them was seen. */
  readonly since: number
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
  /** The mean latency of all requests, ms. */
  readonly latencyMs: number
  /** In how many windows that was learnt while few requests were in progress; enough of them, or a probe, and it is known. */
  readonly quietWindows: number
  /** For how many windows the limit has been reached. */
  readonly limitedWindows: number
  /** When a probe is due at the earliest. */
  readonly probeAt: number
  /**
   * When the probe in progress began: fewer requests begin for a moment, to see how long they take then. Undefined
   * while there is none.
   */
  readonly probingSince: number | undefined
  /** The last delays, newest first. */
  readonly delays: readonly number[]
  /** The last shares of the heap, newest first. */
  readonly heaps: readonly number[]
  /** Whether the window before was interrupted, so that its latencies say nothing. */
  readonly isStalled: boolean
  /** Whether nothing has ended since requests hang that usually are fast. */
  readonly isHanging: boolean
}

/** The limit of a process that has seen nothing yet. */
const FIRST_LIMIT = 20
const MAX_LIMIT = 10_000
/** Requests may take so many times their usual latency before the limit falls. */
const TOLERANCE = 1.3
/** Below so many times their usual latency, nothing waits for anything: the limit doubles. */
const NO_QUEUE = 1.2
/** Above so many times their usual latency, most requests in progress only wait. */
const CROWD = 3
/** The part of a new limit that a step takes over, and in a crowd. */
const SMOOTHING = 0.3
const SMOOTHING_IN_CROWD = 0.6
/** While all find a place, there are at least so many places for each request in progress. */
const SPARE = 1.5
/** How much of a window's mean the usual latency takes over: of one without a queue, and of a faster one. */
const LEARN = 0.1
const LEARN_FASTER = 0.02
/** The share of places in which a probe lets requests begin. */
const PROBE_SHARE = 1 / 3
/** How often the usual latency is measured by a probe while the limit is reached, ms. */
const PROBE_MS = 10_000
/** A probe that has not seen enough requests by then is given up, ms. */
const PROBE_TIMEOUT_MS = 5000
/** With fewer requests in progress than this share of the limit, nothing is learnt from a crowd. */
const QUIET_SHARE = 0.8
/** So many windows make a measurement. */
const KNOWN = 5
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
/** What is usual is known after so long at the latest, ms. */
const SETTLED_MS = 20_000
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
  quietWindows: 0,
  limitedWindows: 0,
  probeAt: 0,
  probingSince: undefined,
  delays: [],
  heaps: [],
  isStalled: false,
  isHanging: false,
}

/** The most requests that may be in progress now. */
export function limitOf({ limit, probingSince }: Control): number {
  return Math.max(1, Math.floor(probingSince === undefined ? limit : limit * PROBE_SHARE))
}

/** Whether requests end so soon that the effect of a change can be awaited. */
export function isQuick({ latencyMs }: Control): boolean {
  return latencyMs <= LONG_MS / 4
}

/**
 * The loop of control: how many requests may be in progress, after what was seen in a window.
 *
 * The limit falls as latencies rise above what they are without a queue (the gradient of Netflix'
 * concurrency-limits and of Envoy), and rises while requests find no place and take no longer than usual.
 * What is usual is learnt while nothing waits. While the limit is reached it would only drift upward: so a
 * probe measures it now and then, with fewer requests in progress.
 *
 * @param random from 0 to 1: spreads the probes of several processes
 */
export function step(before: Control, sample: Sample, now: number, random: number): Control {
  const seen = observe(before, sample)
  if (seen.isStalled) return seen
  const isEmpty = sample.kinds.every((each) => each.judged.length + hangingOf(before, each) === 0)
  if (seen.probingSince !== undefined) {
    const isOver = now - seen.probingSince > Math.max(PROBE_TIMEOUT_MS, 4 * seen.latencyMs)
    return hard(isEmpty && !isOver ? seen : endProbe(seen, sample, now, random), seen.limit)
  }
  if (sample.windowMs === 0) return hard(seen, seen.limit)
  const slowness = slownessOf(seen, sample.kinds, 'judged', now)
  const isCrowded = sample.isLimited || sample.mostActive >= seen.limit / 2
  const isUsualKnown = seen.quietWindows >= KNOWN || !isQuick(seen)
  // Requests that have not ended yet may only be slow: what they wait for is known when some have ended.
  const grows =
    !seen.isHanging && Math.max(slowness, slownessOf(seen, sample.kinds, 'ended', now)) <= NO_QUEUE
  // Those that end soon fill few of the places: the others have not ended, so they do not wait for one another.
  const filledMs = sample.kinds.reduce((sum, { judged }) => sum + mostOf(judged).totalMs, 0)
  const isFilled = filledMs > (sample.mostActive * sample.windowMs) / 10
  const mayGrow = isUsualKnown || seen.quietWindows > 0 || !isFilled
  const wanted =
    !isCrowded || (isEmpty && !grows)
      ? seen.limit
      : grows && mayGrow
        ? 2 * seen.limit
        : isUsualKnown
          ? nextLimit(seen.limit, slowness)
          : seen.limit
  // While all find a place, there need not be many more places than requests, nor fewer.
  const most = sample.isLimited ? MAX_LIMIT : Math.max(seen.limit, 2 * sample.mostActive)
  const least =
    sample.isLimited || seen.isHanging ? 1 : Math.min(seen.limit, SPARE * sample.mostActive)
  const limit = Math.min(Math.max(wanted, least), most)
  if (isEmpty) return hard({ ...seen, limit }, seen.limit)
  const limitedWindows = sample.isLimited ? seen.limitedWindows + 1 : 0
  const isQuiet = sample.mostActive < seen.limit * QUIET_SHARE && !sample.isLimited
  // A process that was crowded from its start knows nothing. Others can wait until the crowd turns out to stay.
  const isProbeDue =
    !(grows && mayGrow) &&
    !seen.isHanging &&
    limitedWindows >= (seen.quietWindows === 0 ? 1 : KNOWN) &&
    (!isUsualKnown || seen.probeAt <= now)
  const next: Control = {
    ...learn(seen, sample, now),
    limit,
    signal: 'latency',
    limitedWindows,
    quietWindows: seen.quietWindows + (isQuiet ? 1 : 0),
    // A probe is for a limit that has been reached for some time.
    probeAt: !sample.isLimited ? now + PROBE_MS : seen.probeAt,
    probingSince: isProbeDue ? now : undefined,
  }
  return hard(next, seen.limit)
}

/**
 * The latencies of most requests of a kind: those of one class may be of two sorts, and a few that take long say
 * nothing of the others.
 */
function mostOf(times: readonly number[]): { requests: number; totalMs: number } {
  const short = times.filter((ms) => ms <= LONG_MS)
  const counted = 2 * short.length >= times.length ? short : times
  return { requests: counted.length, totalMs: counted.reduce((sum, ms) => sum + ms, 0) }
}

/** Takes over the facts of one window: its delay, the heap, and whether its latencies count. */
function observe(before: Control, { delayMs, heap, kinds }: Sample): Control {
  const isHanging =
    kinds.some((each) => hangingOf(before, each) > 0) ||
    (before.isHanging && kinds.every(({ ended }) => ended.length === 0))
  const delays = [delayMs, ...before.delays].slice(0, 2)
  const heaps = [heap, ...before.heaps].slice(0, SUSTAINED)
  const typical = kinds.map(({ judged }) => mostOf(judged))
  const requests = typical.reduce((sum, each) => sum + each.requests, 0)
  const totalMs = typical.reduce((sum, each) => sum + each.totalMs, 0)
  const isStalled = delayMs > STALL_MS && (before.delays[0] ?? 0) < SLOW_LOOP_MS
  const latencyMs =
    requests === 0 || isStalled
      ? before.latencyMs
      : before.latencyMs === 0
        ? totalMs / requests
        : before.latencyMs + LEARN * (totalMs / requests - before.latencyMs)
  const isHeapFull =
    heaps.length === SUSTAINED && Math.min(...heaps) > (before.isHeapFull ? FREE_HEAP : FULL_HEAP)
  return { ...before, delays, heaps, isStalled, latencyMs, isHeapFull, isHanging }
}

/**
 * How many clients have a request that hangs: of a kind whose requests were fast, most no longer end. A kind that
 * has always taken long is not known, and one client alone says little while others are served.
 */
function hangingOf({ usual }: Control, { kind, ended, late }: KindSample): number {
  const { ms = Infinity } = usual.get(kind) ?? {}
  return ms <= LONG_MS && late.size > 2 * ended.length ? late.size : 0
}

/** How many times their usual latency the requests of a window took: 1 if there are none. */
function slownessOf(
  seen: Control,
  kinds: readonly KindSample[],
  which: 'judged' | 'ended',
  now: number,
): number {
  let took = 0
  let expected = 0
  for (const each of kinds) {
    const { requests, totalMs } = mostOf(each[which])
    const hanging = hangingOf(seen, each)
    if (requests + hanging === 0) continue
    const usual = seen.usual.get(each.kind)
    const usualMs = usual === undefined || !isSettled(usual, now) ? totalMs / requests : usual.ms
    // A request counts by the time for which it holds its place.
    const weight = Math.min(1, LONG_MS / usualMs)
    took += weight * (totalMs + hanging * LONG_MS)
    expected += weight * (requests + hanging) * usualMs
  }
  return expected === 0 ? 1 : took / expected
}

/** Whether most requests have had time to end: the shorter ones end first, so what is usual turns out late. */
function isSettled({ ms, since }: Usual, now: number): boolean {
  return ms <= LONG_MS || now - since > Math.min(LONG * ms, SETTLED_MS)
}

function nextLimit(limit: number, slowness: number): number {
  const next = limit * Math.min(1, TOLERANCE / slowness) + Math.sqrt(limit)
  const part = slowness > CROWD ? SMOOTHING_IN_CROWD : SMOOTHING
  return Math.min(MAX_LIMIT, Math.max(1, limit + part * (next - limit)))
}

/** Learns what is usual: from any window in which nothing waited, otherwise only from faster ones. */
function learn(before: Control, { kinds, isLimited }: Sample, now: number): Control {
  const usual = new Map(before.usual)
  for (const { kind, ended } of kinds) {
    const { requests, totalMs } = mostOf(ended)
    if (requests === 0) continue
    const mean = totalMs / requests
    const known = usual.get(kind)
    let ms = known?.ms
    if (known === undefined || ms === undefined) {
      if (usual.size < MAX_KINDS) usual.set(kind, { ms: mean, since: now })
      continue
    }
    // With one in progress, none waits for another.
    const isTaught = !isLimited || before.limit < 2 || !isSettled(known, now)
    if (mean < ms / 2) ms = (ms + mean) / 2
    else if (isTaught || mean < ms)
      ms += (isLimited ? LEARN_FASTER : LEARN) * Math.min(1, requests / ENOUGH) * (mean - ms)
    usual.set(kind, { ...known, ms })
  }
  return { ...before, usual }
}

/** Ends a probe: all requests of the sample began in it. */
function endProbe(before: Control, sample: Sample, now: number, random: number): Control {
  const slowness = slownessOf(before, sample.kinds, 'judged', now)
  // Otherwise the usual latency was measured in a crowd, or has changed.
  const isUsualKnown = slowness > 0.8
  const factor = Math.min(3, Math.max(PROBE_SHARE, slowness))
  return {
    ...before,
    usual: new Map(
      [...before.usual].map(([kind, { ms, since }]) => [kind, { ms: ms * factor, since }]),
    ),
    quietWindows: isUsualKnown ? KNOWN : before.quietWindows,
    limitedWindows: 0,
    // As fast with fewer: the others only wait for each other.
    limit: isUsualKnown ? before.limit : Math.max(1, before.limit * factor),
    probeAt: now + Math.max(PROBE_MS, 30 * before.latencyMs) * (1 + random / 4),
    probingSince: undefined,
  }
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
