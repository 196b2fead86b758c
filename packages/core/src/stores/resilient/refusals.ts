import type { Outcome, Quota } from '../../algorithms/algorithm.ts'
import type { Charge, Ruling } from '../store.ts'

/** Refusals that are remembered at a time. */
const MAX_REFUSALS = 10_000

interface Refusal {
  readonly ruling: Ruling
  readonly quotas: readonly Quota[]
  /** Until when it holds for certain: counted from when it was asked for. */
  readonly until: number
  /** When it was received: waits are told from here on, so that waiting them out is enough. */
  readonly receivedAt: number
}

/**
 * Remembers who is refused until when, so that a client that goes on asking costs no call. A
 * refusal is remembered for its very keys, costs and quotas: a dear request that was refused says
 * nothing about a cheap one.
 */
export class Refusals {
  /** By costs and keys, the oldest first. */
  private readonly byRequest = new Map<string, Refusal>()
  /** ms; monotonic, unless it is a test's. */
  private readonly clock: () => number
  /** Counts the times that it was cleared. */
  private epoch = 0

  constructor(clock: () => number) {
    this.clock = clock
  }

  /** The refusal that holds for these charges, as it stands now. */
  find(charges: readonly Charge[]): Ruling | undefined {
    if (this.byRequest.size === 0) return undefined
    const now = this.clock()
    const request = nameOf(charges)
    const refusal = this.byRequest.get(request)
    if (refusal === undefined) return undefined
    if (now >= refusal.until) {
      this.byRequest.delete(request)
      return undefined
    }
    const same = charges.every(({ quota }, i) => quota === refusal.quotas[i])
    return same ? later(refusal, Math.floor(now - refusal.receivedAt)) : undefined
  }

  /** To be called when the store is asked: what it gives remembers the refusal that comes of it. */
  listen(): (charges: readonly Charge[], ruling: Ruling) => void {
    const { epoch } = this
    const askedAt = this.clock()
    return (charges, ruling) => {
      // What was cleared since may have ended it.
      if (epoch === this.epoch) this.remember(charges, ruling, askedAt)
    }
  }

  private remember(charges: readonly Charge[], ruling: Ruling, askedAt: number): void {
    const waitMs = waitOf(ruling)
    // Of what is never admitted the other figures change.
    if (waitMs === Number.POSITIVE_INFINITY) return
    if (this.byRequest.size >= MAX_REFUSALS) {
      const [oldest] = this.byRequest.keys()
      this.byRequest.delete(oldest as string)
    }
    this.byRequest.set(nameOf(charges), {
      ruling,
      quotas: charges.map(({ quota }) => quota),
      until: askedAt + waitMs,
      receivedAt: this.clock(),
    })
  }

  /** Forgets all of them: a quota may have more left than they say. */
  clear(): void {
    this.epoch += 1
    this.byRequest.clear()
  }
}

function nameOf(charges: readonly Charge[]): string {
  let name = ''
  for (let i = 0; i < charges.length; i += 1) {
    const { key, cost } = charges[i] as Charge
    name += `${cost}:${key.length}:${key}`
  }
  return name
}

/** How long all policies together refuse: as long as the last of them. */
function waitOf({ outcomes }: Ruling): number {
  let waitMs = 0
  for (const outcome of outcomes) {
    if (!outcome.admitted && outcome.waitMs > waitMs) waitMs = outcome.waitMs
  }
  return waitMs
}

function later({ ruling }: Refusal, elapsedMs: number): Ruling {
  const since = (ms: number) => Math.max(0, ms - elapsedMs)
  const outcomes: Outcome[] = ruling.outcomes.map((outcome) => {
    const waitMs = since(outcome.waitMs)
    return {
      admitted: outcome.admitted || waitMs === 0,
      remaining: outcome.remaining,
      resetMs: since(outcome.resetMs),
      waitMs,
      delayMs: 0,
    }
  })
  return { admitted: false, at: ruling.at + elapsedMs, source: 'cache', outcomes }
}
