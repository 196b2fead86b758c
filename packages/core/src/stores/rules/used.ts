/** How a quota stands. */
interface Standing {
  /** What it holds when it is full, units. */
  readonly limit: number
  /** Units that it would admit now. */
  readonly remaining: number
  /** Units in use beyond what it holds. */
  readonly excess?: number | undefined
}

/** The units in use, a debt included. */
export function usedOf({ limit, remaining, excess = 0 }: Standing): number {
  return Math.max(0, limit - remaining) + excess
}
