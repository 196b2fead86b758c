import type { AlgorithmParams } from '../algorithm.ts'
import type { AlgorithmName } from '../index.ts'

/**
 * A request that was admitted: ms since the epoch, units. Below 0: what a bucket was given back, of the charge that was
 * made then and left so many units.
 */
export interface Admitted {
  readonly at: number
  readonly cost: number
  readonly chargedAt?: number | undefined
  readonly remaining?: number | undefined
}

/**
 * The definitions, word for word: how many whole units are left at `now`, from the list of all
 * that was ever admitted, oldest first. Exact, slow, and without a state to keep.
 */
export type Oracle = (params: AlgorithmParams, admitted: readonly Admitted[], now: number) => number

export const oracles: { readonly [name in AlgorithmName]: Oracle } = {
  'fixed-window': ({ limit, windowMs }, admitted, now) => {
    const window = Math.floor(now / windowMs)
    return limit - sum(admitted.filter(({ at }) => Math.floor(at / windowMs) === window))
  },

  'sliding-window': ({ limit, windowMs }, admitted, now) => {
    const window = Math.floor(now / windowMs)
    const charged = (number: number) =>
      BigInt(sum(admitted.filter(({ at }) => Math.floor(at / windowMs) === number)))
    const length = BigInt(windowMs)
    const inside = BigInt((window + 1) * windowMs - 1 - now)
    return limit - Number(charged(window) + (charged(window - 1) * inside) / length)
  },

  'sliding-log': ({ limit, windowMs }, admitted, now) =>
    limit - sum(admitted.filter(({ at }) => at > now - windowMs && at <= now)),

  'token-bucket': (params, admitted, now) => {
    const { limit, windowMs, burst = limit } = params
    const capacity = BigInt(burst) * BigInt(windowMs)
    return wholeUnits(capacity - queued(params, admitted, now), BigInt(windowMs))
  },

  'leaky-bucket': (params, admitted, now) => {
    const { limit, windowMs, maxDelayMs = 0 } = params
    const capacity = BigInt(windowMs) + BigInt(maxDelayMs) * BigInt(limit)
    return wholeUnits(capacity - queued(params, admitted, now, capacity), BigInt(windowMs))
  },
}

/** The second guarantee of the leaky bucket: ms until the queue is empty. */
export function queueDelay(
  params: AlgorithmParams,
  admitted: readonly Admitted[],
  now: number,
): number {
  const { limit, windowMs, maxDelayMs = 0 } = params
  const capacity = BigInt(windowMs) + BigInt(maxDelayMs) * BigInt(limit)
  const level = queued(params, admitted, now, capacity)
  return Number((level + BigInt(params.limit) - 1n) / BigInt(params.limit))
}

/**
 * Units that have not left yet, multiplied by the window: `limit` of these leave per ms.
 * @param capacity what a queue holds; undefined: it is no queue
 */
function queued(
  { limit, windowMs }: AlgorithmParams,
  admitted: readonly Admitted[],
  now: number,
  capacity?: bigint,
): bigint {
  let level = 0n
  let since = admitted[0]?.at ?? now
  for (const { at, cost, chargedAt = at, remaining } of [...admitted, { at: now, cost: 0 }]) {
    level -= BigInt(at - since) * BigInt(limit)
    if (level < 0n) level = 0n
    let change = BigInt(cost) * BigInt(windowMs)
    if (cost < 0) {
      const drained = BigInt(at - chargedAt) * BigInt(limit)
      if (capacity === undefined) {
        // Units that have drained since the charge can't be given back.
        change += drained
        if (change > 0n) change = 0n
      } else {
        // The charge ended here, less than a unit before. If another one is behind it, it keeps its place.
        const end =
          remaining === undefined ? -change : capacity - BigInt(remaining) * BigInt(windowMs)
        const ends = level + drained
        const isLast =
          remaining === undefined ? ends <= end : ends <= end && ends > end - BigInt(windowMs)
        if (!isLast) change = 0n
      }
    }
    level += change
    if (level < 0n) level = 0n
    since = at
  }
  return level
}

function sum(admitted: readonly Admitted[]): number {
  return admitted.reduce((total, { cost }) => total + cost, 0)
}

function wholeUnits(parts: bigint, unit: bigint): number {
  return parts <= 0n ? 0 : Number(parts / unit)
}
