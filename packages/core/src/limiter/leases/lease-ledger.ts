import { inBackground } from '#platform'
import { copied } from '../../key/digest.ts'
import type {
  Change,
  Charge,
  GrantResult,
  Ledger,
  OnIncrease,
  Requests,
  StoreResult,
} from '../../stores/store.ts'
import { Lease } from './lease.ts'
import { isOfStore, LeasedKey } from './leased-key.ts'

/** The most keys whose requests are counted. */
const MAX_KEYS = 10_000
/** The most keys with a lease, or with one on its way. */
const MAX_LEASES = 1000
/** The longest key that is leased, characters. */
const MAX_LENGTH = 256

type Results = readonly (StoreResult | Error)[]

/**
 * Decides requests of busy keys from units that the store has charged in advance. A lease lasts for `leaseMs` at most,
 * from when the store was asked for it. So in any span at most as many units are admitted as the store charges in
 * a span that is longer by `leaseMs`, however many processes there are, and whatever becomes of them.
 *
 * A request that no lease covers is decided by the store itself. What is taken in advance is a request of its own, behind
 * it in the same call: nobody is refused for it, and if it is refused, it has cost nothing. What is left at the end of
 * a lease is given back before the next one is taken, or in the background. It is given back once: if the store
 * does not confirm it, it stays charged. So does a lease whose answer does not come in time.
 */
export class LeaseLedger implements Ledger<'async'> {
  readonly shard: Ledger['shard']
  readonly #store: Ledger<'async'>
  readonly #leaseMs: number
  readonly #clock: () => number
  /** What is known of keys by their ids, the oldest first. */
  readonly #keys = new Map<string, LeasedKey>()
  /** The keys that have a lease. */
  readonly #leased = new Set<LeasedKey>()
  #taking = 0
  #cancelTimer: (() => void) | undefined
  #isClosed = false

  /** @param clock ms, monotonic unless it is a test's */
  constructor(store: Ledger<'async'>, leaseMs: number, clock: () => number) {
    this.shard = store.shard
    this.#store = store
    this.#leaseMs = leaseMs
    this.#clock = clock
  }

  decide(requests: Requests, isPeek = false): Promise<Results> {
    const decide = isPeek ? this.#peek : this.#decideOne
    // Limiters ask one.
    if (requests.length === 1) return decide.call(this, requests[0] as readonly Charge[])
    return Promise.all(requests.map((charges) => decide.call(this, charges))).then((all) =>
      all.flat(),
    )
  }

  change(change: Change, onIncrease?: OnIncrease): Promise<GrantResult | undefined> {
    if ('key' in change) this.#endKey(change.key)
    else if (change.kind === 'settle')
      this.#keys.get(idOf(change.charges))?.lease?.settled(change.charges)
    return this.#store.change(change, onIncrease)
  }

  /** Gives back what is leased, and leases no more. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    for (const key of this.#leased) this.#end(key)
  }

  #decideOne(charges: readonly Charge[]): Promise<Results> {
    const key = this.#keyOf(charges)
    if (key === undefined) return this.#store.decide([charges])
    const now = this.#clock()
    key.asks(now)
    const result = key.lease?.use(charges, now)
    if (result !== undefined) {
      key.uses(charges)
      return Promise.resolve([result])
    }
    this.#end(key)
    const mayTake =
      !key.isTaking && !this.#isClosed && this.#leased.size + this.#taking < MAX_LEASES
    const ahead = mayTake ? key.ahead(charges) : undefined
    if (ahead !== undefined) return this.#take(key, charges, ahead, now)
    const call = key.calls()
    return this.#store.decide([charges]).then((results) => {
      key.learn(charges, results[0], call)
      return results
    })
  }

  async #take(
    key: LeasedKey,
    charges: readonly Charge[],
    ahead: readonly Charge[],
    sentAt: number,
  ): Promise<Results> {
    key.isTaking = true
    this.#taking += 1
    const call = key.calls()
    try {
      const [own, taken] = await this.#store.decide([charges, ahead])
      key.learn(charges, own, call)
      if (taken !== undefined && !(taken instanceof Error) && taken.admitted)
        this.#begin(key, ahead, taken, sentAt, call)
      return [own as StoreResult | Error]
    } finally {
      key.isTaking = false
      this.#taking -= 1
    }
  }

  #begin(
    key: LeasedKey,
    charges: readonly Charge[],
    result: StoreResult,
    sentAt: number,
    call: number,
  ): void {
    if (!isOfStore(result)) {
      // While the store fails, this process counts by itself what it admits, and nobody is going to use this.
      if (result.source === 'local') this.#undo(charges, result)
      return
    }
    // A reset has given it back already, and a block has ended it.
    if (key.isOver) return
    key.leaves(result, call)
    const lease = new Lease(charges, result, sentAt, this.#leaseMs)
    if (this.#isClosed || this.#clock() >= lease.until) {
      this.#giveBack(lease)
      return
    }
    key.begins(lease)
    this.#leased.add(key)
    this.#startTimer()
  }

  #undo(charges: readonly Charge[], { at: chargedAt, source }: StoreResult): void {
    const undone = charges.map((charge) => ({ ...charge, cost: -charge.cost }))
    this.#store.change({ kind: 'settle', charges: undone, chargedAt, source }).catch(() => {})
  }

  #peek(charges: readonly Charge[]): Promise<Results> {
    const key = this.#keys.get(idOf(charges))
    return this.#store.decide([charges], true).then((results) => {
      const [result] = results
      const lease = key?.lease
      if (lease === undefined || this.#clock() >= lease.until) return results
      if (result === undefined || result instanceof Error || !isOfStore(result)) return results
      return [lease.preview(charges, result)]
    })
  }

  #end(key: LeasedKey): void {
    const { lease } = key
    if (lease === undefined) return
    key.lease = undefined
    this.#leased.delete(key)
    this.#giveBack(lease)
  }

  #giveBack(lease: Lease): void {
    // Whether it was kept, nobody knows: so it is not repeated.
    for (const change of lease.giveBack()) this.#store.change(change).catch(() => {})
  }

  /** Ends the leases of a client, and those on their way. */
  #endKey(client: string): void {
    for (const [id, key] of this.#keys) {
      if (!key.keys.includes(client)) continue
      this.#end(key)
      key.isOver = true
      this.#keys.delete(id)
    }
  }

  /** Gives back leases that have ended for a while, and that nobody has asked for since. */
  endIdle(): void {
    // One that ended just now is given back with the next one, if that is taken soon.
    const before = this.#clock() - this.#leaseMs / 2
    for (const key of this.#leased) if ((key.lease as Lease).until <= before) this.#end(key)
  }

  #startTimer(): void {
    this.#cancelTimer ??= inBackground(() => {
      this.#cancelTimer = undefined
      this.endIdle()
      if (this.#leased.size > 0) this.#startTimer()
    }, this.#leaseMs)
  }

  /** Undefined if keys are too long to be kept. */
  #keyOf(charges: readonly Charge[]): LeasedKey | undefined {
    const id = idOf(charges)
    const known = this.#keys.get(id)
    if (known !== undefined) return known
    if (charges.some(({ key }) => key.length > MAX_LENGTH)) return undefined
    if (this.#keys.size === MAX_KEYS) this.#forgetOldest()
    const key = new LeasedKey(
      charges.map((charge) => copied(charge.key)),
      this.#leaseMs,
    )
    this.#keys.set(charges.length === 1 ? (key.keys[0] as string) : copied(id), key)
    return key
  }

  /** Forgets the oldest key that has no lease: there are fewer leases than keys. */
  #forgetOldest(): void {
    for (const [id, key] of this.#keys) {
      this.#keys.delete(id)
      if (key.lease === undefined && !key.isTaking) return
      this.#keys.set(id, key)
    }
  }
}

/** Tells the keys of requests apart: no two lists of keys have the same. */
function idOf(charges: readonly Charge[]): string {
  if (charges.length === 1) return (charges[0] as Charge).key
  let id = ''
  for (const { key } of charges) id += `${key.length} ${key}`
  return id
}
