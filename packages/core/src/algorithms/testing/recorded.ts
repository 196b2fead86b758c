import type { Algorithm } from '../algorithm.ts'
import { calendarWindow } from '../calendar-window/calendar-window.ts'
import { calendarWindowTraces } from '../calendar-window/traces.ts'
import { concurrency } from '../concurrency/concurrency.ts'
import { concurrencyTraces } from '../concurrency/traces.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import { fixedWindowTraces } from '../fixed-window/traces.ts'
import { leakyBucket } from '../leaky-bucket/leaky-bucket.ts'
import { leakyBucketTraces } from '../leaky-bucket/traces.ts'
import { slidingLog } from '../sliding-log/sliding-log.ts'
import { slidingLogTraces } from '../sliding-log/traces.ts'
import { slidingWindow } from '../sliding-window/sliding-window.ts'
import { slidingWindowTraces } from '../sliding-window/traces.ts'
import { tokenBucket } from '../token-bucket/token-bucket.ts'
import { tokenBucketTraces } from '../token-bucket/traces.ts'
import type { Trace } from './trace.ts'

/** The traces of each algorithm, which every form of it replays. */
export const recorded: { algorithm: Algorithm; traces: readonly Trace[] }[] = [
  { algorithm: fixedWindow, traces: fixedWindowTraces },
  { algorithm: calendarWindow, traces: calendarWindowTraces },
  { algorithm: slidingWindow, traces: slidingWindowTraces },
  { algorithm: slidingLog, traces: slidingLogTraces },
  { algorithm: tokenBucket, traces: tokenBucketTraces },
  { algorithm: leakyBucket, traces: leakyBucketTraces },
  { algorithm: concurrency, traces: concurrencyTraces },
]
