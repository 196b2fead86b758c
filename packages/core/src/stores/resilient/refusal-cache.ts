import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { bounded, copied } from '../../key/digest.ts'
import type { Keyspace } from '../store.ts'

/** The most keys with remembered refusals, over all limiters on a store. */
const MAX_KEYS = 10_000

/** A key has less than one unit left, under a limit. Times are on `Refusals.clock`, ms. */
export interface Refusal {
  readonly limit: CompiledLimit
  /** When the next unit is available, counted from the call to the store: so never too late. */
  readonly until: number
  /** When to call the store again, if it works. */
  readonly askAgainAt: number
  /** When the answer came: waits are counted from here, so that they are never too short. */
  readonly receivedAt: number
  /** What the store said then. */
  readonly at: number
  readonly retryAfterMs: number
  readonly resetMs: number
}

/** The keys of one policy, for all limiters of this process that share them. */
export interface RefusalSpace {
  readonly number: number
  /** Whether anything in this process settles what they were charged. */
  settles: boolean
  /** Counts operations that may have ended a remembered refusal of one of them. */
  ends: number
}

/** The keys that have nothing left, as limiters of this process on one store have learned. */
export class RefusalCache {
  /** ms; monotonic, unless it is a test's. */
  readonly clock: () => number
  private readonly keyspaces = new Map<string, RefusalSpace>()
  /** The remembered refusals by space and key, the oldest first. */
  private readonly refusals = new Map<string, Refusal>()

  /** @param clock see `Store.clock` */
  constructor(clock: (() => number) | undefined) {
    this.clock = clock ?? (() => performance.now())
  }

  get isEmpty(): boolean {
    return this.refusals.size === 0
  }

  space(keyspace: Keyspace, prefix: string): RefusalSpace {
    const id = `${keyspace.prefix ?? prefix}\n${keyspace.name}`
    let known = this.keyspaces.get(id)
    if (known === undefined) {
      known = { number: this.keyspaces.size, settles: false, ends: 0 }
      this.keyspaces.set(id, known)
    }
    return known
  }

  get(keyspace: RefusalSpace, key: string): Refusal | undefined {
    return this.refusals.get(idOf(keyspace, key))
  }

  set(keyspace: RefusalSpace, key: string, refusal: Refusal): void {
    const id = idOf(keyspace, key)
    this.refusals.delete(id)
    if (this.refusals.size === MAX_KEYS) {
      const [oldest] = this.refusals.keys()
      this.refusals.delete(oldest as string)
    }
    this.refusals.set(copied(id), refusal)
  }

  delete(keyspace: RefusalSpace, key: string): void {
    this.refusals.delete(idOf(keyspace, key))
  }

  /** What is learned from calls in progress is not kept either. */
  clear(): void {
    for (const keyspace of this.keyspaces.values()) keyspace.ends += 1
    this.refusals.clear()
  }
}

/** The id of a refusal, of bounded length whatever the key. */
function idOf({ number }: RefusalSpace, key: string): string {
  return `${number} ${bounded(key)}`
}
