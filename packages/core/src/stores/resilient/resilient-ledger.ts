import { clientsOf } from '../rules/change.ts'
import type {
  Change,
  Charge,
  GrantResult,
  Ledger,
  OnIncrease,
  Requests,
  StoreResult,
} from '../store.ts'
import type { GuardedLedger } from './guarded-ledger.ts'
import type { LedgerRefusals } from './refusals.ts'

/** What calls the store, and decides in its place if that fails. `isTrusted`: whether the store would be called. */
export type Guard = Pick<GuardedLedger, 'decide' | 'peek' | 'change'> & {
  isTrusted(charges: readonly Charge[]): boolean
}

/**
 * Answers from remembered refusals if possible, otherwise calls the store. Keeps the charges that it is
 * given until it has answered.
 */
export class ResilientLedger implements Ledger<'async'> {
  readonly #guard: Guard
  readonly #refusals: LedgerRefusals

  constructor(guard: Guard, refusals: LedgerRefusals) {
    this.#guard = guard
    this.#refusals = refusals
  }

  decide(requests: Requests, isPeek = false): Promise<readonly StoreResult[]> {
    if (isPeek) return this.#guard.peek(requests)
    if (requests.length > 1)
      return Promise.all(requests.map((charges) => this.decide([charges]))).then((all) =>
        all.flat(),
      )
    const charges = requests[0] as readonly Charge[]
    const known = this.#refusals.find(charges, this.#guard)
    if (known !== undefined) return Promise.resolve([known])
    return this.#guard.decide(charges, this.#refusals.learner(charges))
  }

  change(change: Change, onIncrease?: OnIncrease): Promise<GrantResult | undefined> {
    const make = () => this.#guard.change(change, onIncrease)
    if (change.kind === 'renew') return make()
    if (change.kind === 'settle') this.#refusals.settles()
    // What a client has of its own holds in every window and algorithm of its policy.
    const where = 'limit' in change ? 'everywhere' : 'here'
    return this.#refusals.ending(clientsOf(change), where, make)
  }
}
