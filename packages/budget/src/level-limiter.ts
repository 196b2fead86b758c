import type { Charge, Decision, ThresholdEvent } from '@sluice/core'
import {
  ChargeLimiter,
  compilePolicies,
  ending,
  nextSlot,
  numberOf,
  ownedBy,
  type Policy,
  SLOT_WAIT_MS,
  settleUntilConfirmed,
  shardedKey,
} from '@sluice/core/internal'
import { type BudgetDecision, toBudgetDecision } from './call.ts'
import type { Level } from './level.ts'
import type { Settings } from './options.ts'

/** The options that the policies have. */
const KNOWN = 'name limit window timeZone anchor algorithm unit alertAt reserve hold'.split(' ')

/** The levels of some calls, and of their runs, decided together. */
export class LevelLimiter extends ChargeLimiter {
  readonly #settings: Settings
  readonly #levels: readonly Level[]

  /** @param store the store of the first limiter, in which all of them count */
  constructor(settings: Settings, levels: readonly Level[], store = settings.store.store) {
    const { money, onAlert } = settings
    const onThreshold = ({ policy: level, key, threshold: share, ...event }: ThresholdEvent) => {
      const [used, limit] = [money.shown(event.used), money.shown(event.limit)]
      const id = key.slice(key.indexOf('}') + 1)
      onAlert?.({ level, id, share, used, limit, windowEndsAt: event.windowEndsAt })
    }
    const policies = compilePolicies({ policies: levels.map(({ policy }) => policy) }, KNOWN)
    const options = { ...settings.store, store, ...(onAlert && { onThreshold }) }
    super(policies, options, { settles: true })
    this.#settings = settings
    this.#levels = levels
  }

  /**
   * @param levels one for each policy; each run has levels of its own
   * @param own the ids of the levels, the outermost one last
   * @param cost what a call of a model costs, integers
   * @param tools how many calls of tools they are
   */
  chargesOf(levels: readonly Level[], own: readonly string[], cost: number, tools = 0) {
    const keyOf = (id: string) => shardedKey(own.at(-1) as string, id)
    const owner = numberOf(keyOf(own[0] as string))
    const charges = levels.map(async ({ shown, id, unitsOf }, i): Promise<Charge> => {
      const client = id ?? (own[i] as string)
      const policy = this.compiledPolicies[i] as Policy
      const limit = policy.compiledLimit ?? policy.limitFor(await unitsOf(client))
      const isReturned = policy.reserves && this.#settings.counted.hold !== undefined
      const claim = isReturned ? ownedBy([nextSlot()], owner) : undefined
      const most = shown === 'calls' ? 1 : Infinity
      const units = shown === 'toolCalls' ? tools : Math.min(most, cost)
      return { key: keyOf(client), cost: units, limit, claim }
    })
    return Promise.all(charges)
  }

  /**
   * Decides charges, and reports it.
   * @param isFree whether it charges nothing
   */
  async charge(charges: readonly Charge[], isFree: boolean): Promise<Decision> {
    const startedAt = performance.now()
    const decision = await (isFree ? this.preview(charges) : this.decide(charges))
    this.report(decision, charges, performance.now() - startedAt)
    return decision
  }

  /**
   * Counts a call of a tool. The first one that is refused is counted too: calls of models, which cost no tools, are
   * refused from then on.
   * @returns why it is refused. Undefined: it is not
   */
  async countTool(charges: readonly Charge[]): Promise<BudgetDecision | undefined> {
    const decision = await this.charge(charges, false)
    if (!decision.allowed) return this.show(charges, decision, 0)
    const isSpent = decision.policies.map(({ remaining }) => remaining === 0)
    if (!isSpent.includes(true)) return undefined
    // A run that this one is in has made no call.
    const back = charges.map((charge, i) => ({ ...charge, cost: isSpent[i] ? 0 : -1 }))
    await settleUntilConfirmed(this, back, decision)
    return this.show(charges, await this.preview(charges), 0)
  }

  /**
   * Corrects what was charged, once, and ends its reservations. Never rejects: what the store does not confirm is
   * repeated for an hour.
   * @param charged the decision about each charge; empty if the store did not decide
   * @param delta the cost beyond the charge, integers
   */
  async settle(charges: readonly Charge[], charged: Charged, delta: number): Promise<void> {
    if (charged.length === 0) return
    const corrected = charges.map((charge, i) => {
      if (!this.compiledPolicies[i]?.reserves) return { ...charge, cost: 0 }
      const { claim, cost } = charge
      // Without a reservation, the claim only identifies the settlement.
      return {
        ...charge,
        cost: delta,
        claim: claim ? ending(claim, cost) : ending([nextSlot()], 0),
      }
    })
    // A lower cost is given back to the window of the charge; a higher one is charged now.
    const policies = delta < 0 ? charged : charged.map(({ source }) => ({ source }))
    await settleUntilConfirmed(this, corrected, { policies })
  }

  /** A decision in the budget's unit. @param cost integers */
  async show(
    charges: readonly Charge[],
    decision: Decision,
    cost: number,
  ): Promise<BudgetDecision> {
    const tell = (given: Decision, reason?: 'busy') =>
      toBudgetDecision(given, this.#levels, this.#settings.money.shown, cost, reason)
    if (!decision.policies.some(isFull)) return tell(decision)
    // It has as many reservations as it can, and refuses as if nothing were left. Somebody else may still have some.
    const others = charges.map((charge) => ({ ...charge, cost: 0, claim: undefined }))
    const { policies: standing } = await this.preview(others)
    const policies = decision.policies.map((each, i) => {
      return { ...each, ...standing[i], allowed: each.allowed }
    })
    const isBusy = policies.every(
      (each, i) => each.allowed || isFull(each) || each.remaining >= Number(charges[i]?.cost),
    )
    return tell({ ...decision, policies }, isBusy ? 'busy' : undefined)
  }
}

/** The decision about each charge. */
type Charged = readonly Partial<Decision['policies'][number]>[]

function isFull({ resetMs, retryAfterMs }: Decision['policies'][number]): boolean {
  return resetMs === SLOT_WAIT_MS && retryAfterMs === SLOT_WAIT_MS
}
