import type { CompiledLimit } from '../algorithms/algorithm.ts'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Duration } from '../options/duration.ts'
import { clientsOf } from '../stores/rules/change.ts'
import type {
  Change,
  Charge,
  GrantResult,
  Keyspace,
  Ledger,
  OnIncrease,
  StoreMode,
} from '../stores/store.ts'
import type { LivePolicy } from './live/live-policies.ts'
import type { Policy } from './policy.ts'

/** A policy has at most 16: there are more only where several windows vary together. */
const MAX_LEDGERS = 100

/** What the ledgers need of a policy. */
export type Counted = Pick<Policy, 'keyspace' | 'anyLimit' | 'windowVaries'>

/** The ledgers of some policies: one, unless a window is a function of the request. */
export class PolicyLedgers<M extends StoreMode> {
  readonly #policies: readonly Counted[]
  readonly #live: readonly LivePolicy[]
  readonly #last: readonly Keyspace[]
  readonly #open: (keyspaces: readonly Keyspace[]) => Ledger<M>
  /** The ledgers by their keyspaces. */
  readonly #known = new Map<string, Ledger<M>>()
  /** Undefined if there are several. */
  readonly only: Ledger<M> | undefined
  /** Called with the keys of a change, once it is made or has failed. */
  whenChanged: ((keys: ReadonlySet<string>) => void) | undefined

  /** @param last a further keyspace of each ledger, behind those of the policies */
  constructor(
    policies: readonly Counted[],
    live: readonly LivePolicy[],
    open: (keyspaces: readonly Keyspace[]) => Ledger<M>,
    last?: Keyspace,
  ) {
    this.#policies = policies
    this.#live = live
    this.#last = last === undefined ? [] : [last]
    this.#open = open
    const ledger = this.#get(policies.map((policy, i) => this.#keyspace(i, policy.anyLimit())))
    if (!policies.some(({ windowVaries }) => windowVaries)) this.only = ledger
  }

  /**
   * The ledger of some charges.
   * @param charges one for each policy, in their order
   */
  of(charges: readonly Charge[]): Ledger<M> {
    return this.only ?? this.#get(charges.map(({ limit }, i) => this.#keyspace(i, limit)))
  }

  /** All ledgers that are known, and that of a window which no request has had yet. */
  all(window?: Duration): readonly Ledger<M>[] {
    if (window !== undefined)
      this.#get(this.#policies.map((policy, i) => this.#keyspace(i, policy.anyLimit(window))))
    return [...this.#known.values()]
  }

  /** Makes a change in one of the ledgers, and calls `whenChanged`. */
  change(
    ledger: Ledger<M>,
    change: Change,
    onIncrease?: OnIncrease,
  ): MaybePromise<GrantResult | undefined> {
    const { whenChanged } = this
    const keys = whenChanged && new Set(clientsOf(change))
    const done: MaybePromise<GrantResult | undefined> = ledger.change(change, onIncrease)
    if (whenChanged === undefined || keys === undefined) return done
    if (isPromise(done)) return done.finally(() => whenChanged(keys))
    whenChanged(keys)
    return done
  }

  #keyspace(place: number, limit: CompiledLimit): Keyspace {
    const policies = this.#policies
    const live = this.#live.find((each) => each.place === place)
    const keyspace = (policies[place] as Counted).keyspace(limit, live?.id)
    if (live === undefined) return keyspace
    return {
      ...keyspace,
      // A document may put another policy in its place.
      get params() {
        return policies[place]?.keyspace().params
      },
    }
  }

  #get(keyspaces: readonly Keyspace[]): Ledger<M> {
    const id = keyspaces.map(({ name }) => name).join('\n')
    let ledger = this.#known.get(id)
    if (ledger === undefined) {
      ledger = this.#open([...keyspaces, ...this.#last])
      const [oldest] = this.#known.keys()
      if (this.#known.size === MAX_LEDGERS) this.#known.delete(oldest as string)
      this.#known.set(id, ledger)
    }
    return ledger
  }
}
