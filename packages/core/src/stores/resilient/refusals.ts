import type { Outcome, Quota } from '../../algorithms/algorithm.ts'
import type { Charge, Ruling } from '../store.ts'

/** Clients of whom refusals are remembered at a time. */
const MAX_CLIENTS = 10_000
/** Costs at which one client's refusals are remembered. */
const MAX_COSTS = 8

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
  /** By keys, the oldest first, and by costs. */
  private readonly byClient = new Map<string, Map<string, Refusal>>()
  /** ms; monotonic, unless it is a test's. */
  private readonly clock: () => number
  /** Counts the times that it was cleared. */
  private epoch = 0

  constructor(clock: () => number) {
    this.clock = clock
  }

  /** The refusal that holds for these charges, as it stands now. */
  find(charges: readonly Charge[]): Ruling | undefined {
    if (this.byClient.size === 0) return undefined
    const refusals = this.byClient.get(clientOf(charges))
    const refusal = refusals?.get(costsOf(charges))
    if (refusal === undefined) return undefined
    const now = this.clock()
    if (now >= refusal.until) return undefined
    const same = charges.every(({ quota }, i) => quota === refusal.quotas[i])
    return same ? later(refusal, Math.floor(now - refusal.receivedAt)) : undefined
  }

  /** To be called when the store is asked: what it gives takes note of the answer. */
  listen(): (charges: readonly Charge[], ruling: Ruling) => void {
    const { epoch } = this
    const askedAt = this.clock()
    return (charges, ruling) => {
      if (ruling.admitted) this.forget(charges)
      // What was cleared since may have ended the refusal.
      else if (epoch === this.epoch) this.remember(charges, ruling, askedAt)
    }
  }

  /** Forgets all of them: a quota may have more left than they say. */
  clear(): void {
    this.epoch += 1
    this.byClient.clear()
  }

  /** What a client was admitted changes how long it is refused at other costs. */
  private forget(charges: readonly Charge[]): void {
    if (this.byClient.size > 0) this.byClient.delete(clientOf(charges))
  }

  private remember(charges: readonly Charge[], ruling: Ruling, askedAt: number): void {
    const waitMs = waitOf(ruling)
    // Of what is never admitted only the figures change.
    if (waitMs === Number.POSITIVE_INFINITY) return
    const client = clientOf(charges)
    let refusals = this.byClient.get(client)
    if (refusals === undefined || refusals.size === MAX_COSTS) {
      this.makeRoom()
      refusals = new Map()
      this.byClient.set(client, refusals)
    }
    refusals.set(costsOf(charges), {
      ruling,
      quotas: charges.map(({ quota }) => quota),
      until: askedAt + waitMs,
      receivedAt: this.clock(),
    })
  }

  private makeRoom(): void {
    if (this.byClient.size < MAX_CLIENTS) return
    const [oldest] = this.byClient.keys()
    this.byClient.delete(oldest as string)
  }
}

function clientOf(charges: readonly Charge[]): string {
  const { key } = charges[0] as Charge
  const same = charges.every((charge) => charge.key === key)
  return same ? `=${key}` : JSON.stringify(charges.map((charge) => charge.key))
}

function costsOf(charges: readonly Charge[]): string {
  let costs = ''
  for (let i = 0; i < charges.length; i += 1) costs += `${(charges[i] as Charge).cost},`
  return costs
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
