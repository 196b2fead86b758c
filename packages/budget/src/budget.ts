import type { Charge } from '@sluice/core'
import {
  checkInteger,
  checkKnown,
  checkObject,
  checkOneOf,
  shardedKey,
  warnOnce,
} from '@sluice/core/adapter'
import type { ChargeListener, Metered } from '@sluice/core/meter'
import { aiSdk } from './ai-sdk.ts'
import { budgetedFetch } from './budgeted-fetch.ts'
import {
  type Activity,
  type BudgetCall,
  type BudgetDecision,
  toBudgetDecision,
  toCall,
  unpriced,
} from './call.ts'
import { inWeeks, type LevelCharge, LevelLimiter } from './level-limiter.ts'
import { wrong } from './money.ts'
import { type BudgetOptions, readSettings, type Settings, type Usage } from './options.ts'
import type { Open } from './reading.ts'

/** Characters of a model's name that a warning has. */
const MAX_NAME = 64

/** The owners of the budgets, from data that you have verified: an id for each level; null: it has no such level. */
export type Who<L extends string = string> = { readonly [level in L]: string | null }

/** All calls of an agent's run, whatever process they come from. It is counted for three days at least. */
export interface RunOptions {
  /** Tells it apart from other runs of the same outermost level. */
  readonly id: string
  /** The most that it may cost: in the budget's unit, as a number, or as text with it, `'2 USD'`. Default: any amount. */
  readonly max?: number | string | undefined
  /** How many calls it may make. Integer. Default: any number. */
  readonly maxCalls?: number | undefined
}

/** A client's own budget. */
export interface OverrideOptions<L extends string = string> {
  readonly level: L
  /** In the budget's unit; 0 refuses everything; null: that of the options again. */
  readonly limit: number | null
  /** When it ends: a Date, or ms since the epoch. Default: when it is ended. */
  readonly until?: Date | number | undefined
}

/** A top-up. */
export interface GrantOptions<L extends string = string> {
  readonly level: L
  /** When it ends: a Date, or ms since the epoch. Default: with the window. */
  readonly until?: Date | number | undefined
  /** The identifier of the payment: with the same one, nothing is added again. */
  readonly id?: string | undefined
}

/** Budgets of several levels, or of a run within them. */
export class Budget<L extends string = string> {
  /** For `meter` of `@sluice/core/meter`: the charges on all levels, and by runs. */
  readonly limiter: Metered
  readonly #settings: Settings
  /** The limiters, by the names of the levels that they decide. The first one has opened the store. */
  readonly #limiters: Map<string, LevelLimiter>
  readonly #ofRun: readonly LevelCharge[]

  /** @param ofRun the charges of a run; their keys are its id */
  constructor(
    settings: Settings,
    limiters = new Map<string, LevelLimiter>(),
    ofRun: readonly LevelCharge[] = [],
  ) {
    this.#settings = settings
    this.#limiters = limiters
    this.#ofRun = ofRun
    const { bannedQuota, compiledPolicies, store } = this.#limiterOf([...settings.levels.keys()])
    const observe = (listener: ChargeListener | undefined) => {
      for (const { events } of limiters.values()) events.onCharge = listener
    }
    this.limiter = { bannedQuota, compiledPolicies, store, observe }
  }

  /**
   * Reserves the most that a call may cost, on all levels or none.
   * @param estimate its input, and the most output that it may have
   * @throws SluiceError (a rejection) for a wrong argument; a refusal is a value
   */
  async reserve(who: Who<L>, estimate: Usage): Promise<BudgetCall> {
    return this.#open(who, estimate)
  }

  /** Decides as `reserve` would; changes nothing. */
  async fits(who: Who<L>, estimate: Usage): Promise<BudgetDecision> {
    const price = this.#priceOf(estimate)
    return price === undefined ? unpriced : this.#preview(who, price || 1)
  }

  /** How the levels stand; changes nothing. */
  async usage(who: Who<L>): Promise<BudgetDecision> {
    return this.#preview(who, 0)
  }

  /**
   * Charges what has been used without a reservation, into debt if necessary: a batch, or what the provider's bill has
   * more.
   * @throws SluiceError (a rejection) if the usage has no price
   */
  async settle(who: Who<L>, usage: Usage): Promise<void> {
    const cost = this.#priceOf(usage)
    if (cost === undefined)
      throw wrong('usage', 'usage with numbers, of a model with a price', usage, 'Add its price.')
    const { limiter, charges } = await this.#ask(who, 0)
    await limiter.settle(
      charges,
      charges.map(() => ({})),
      cost,
    )
  }

  /**
   * Gives a client a budget of its own on one level, in place of that of the options, and keeps it in the store.
   * @throws SluiceError (a rejection) for a wrong argument, StoreError if the store does not confirm it
   */
  async override(who: Who<L>, { level, limit, ...options }: OverrideOptions<L>): Promise<void> {
    const { limiter, key, policy } = await this.#levelOf(who, level)
    const units = limit === null ? null : this.#settings.money.ofLimit('limit', limit)
    await limiter.overrideKey(key, { ...options, policy, limit: units })
  }

  /**
   * Adds an amount to a client's budget on one level, until the window ends: a top-up. It composes with `override`.
   * @returns false if one with this `id` has been made
   * @throws SluiceError (a rejection) for a wrong argument, StoreError if the store does not confirm it
   */
  async grant(
    who: Who<L>,
    amount: number,
    { level, ...options }: GrantOptions<L>,
  ): Promise<boolean> {
    const { limiter, key, policy } = await this.#levelOf(who, level)
    const units = this.#settings.money.ofLimit('amount', amount)
    return limiter.grantKey(key, units, { ...options, policy })
  }

  /**
   * Makes a budget for the calls of one run, which must fit into what the run may cost, and into all levels.
   * @throws SluiceError for wrong options
   */
  run(options: RunOptions): Budget<L> {
    checkKnown('', checkObject('options', options, '{ id, max, maxCalls }'), [
      'id',
      'max',
      'maxCalls',
    ])
    const { id, max, maxCalls } = options
    const { money, soft } = this.#settings
    if (soft) throw wrong('run()', 'a budget without soft', soft, 'Make another budget for runs.')
    if (max === undefined && maxCalls === undefined)
      throw wrong('max', 'max or maxCalls', undefined, "Limit the run: max: '2 USD'.")
    const key = checkId('id', id)
    const ofRun: LevelCharge[] = []
    if (max !== undefined)
      ofRun.push(...inWeeks({ name: 'run', key, limit: money.ofText('max', max), cost: 1 }))
    if (maxCalls !== undefined) {
      const limit = checkInteger('maxCalls', maxCalls, 0, Number.MAX_SAFE_INTEGER)
      ofRun.push(...inWeeks({ name: 'calls', key, limit, cost: 1 }))
    }
    return new Budget(this.#settings, this.#limiters, ofRun)
  }

  /** Middleware for `wrapLanguageModel` of the AI SDK. What does not fit rejects with a `BudgetError`. */
  aiSdk(who: Who<L>): ReturnType<typeof aiSdk> {
    const { maxOutput } = this.#settings
    return aiSdk((estimate, activity) => this.#open(who, estimate, activity), maxOutput)
  }

  /**
   * A `fetch` for the clients of OpenAI and Anthropic. What does not fit is answered with 429, which they do not repeat.
   * @param fetch what sends. Default: the platform's
   */
  fetch(who: Who<L>, fetch = globalThis.fetch): typeof globalThis.fetch {
    const open: Open = (estimate, activity) => this.#open(who, estimate, activity)
    return budgetedFetch(fetch, open, this.#settings.maxOutput)
  }

  /** Closes the budget, with all its runs, and a store that it has made itself. */
  close(): void {
    for (const limiter of [...this.#limiters.values()].reverse()) limiter.close()
  }

  /** @param activity how long nothing has happened for the call, ms. Left out: it is being worked on */
  async #open(who: Who<L>, estimate: Usage, activity?: Activity): Promise<BudgetCall> {
    const { money, soft } = this.#settings
    const price = this.#priceOf(estimate)
    if (price === undefined) return toCall(unpriced)
    // Each call has a reservation, so that none is unseen.
    const cost = price || 1
    const { limiter, charges } = await this.#ask(who, soft ? 0 : cost)
    const decision = await limiter.charge(charges, soft)
    if (soft) await limiter.settle(charges, decision.policies, cost)
    const shown = toBudgetDecision(decision, money, cost)
    if (!decision.allowed && !soft) return toCall(shown)
    let ending: Promise<void> | undefined
    const end = (actual: number) => {
      const settle = () => limiter.settle(charges, decision.policies, actual - cost)
      ending ??= settle().then(() => void held?.release())
      return ending
    }
    const ended = (reason: string) => void (reason === 'abandoned' && end(cost))
    const held = limiter.hold(charges, decision, ended, activity)
    return toCall({ ...shown, allowed: true, reason: undefined }, (usage) =>
      end((usage && this.#priceOf(usage)) ?? cost),
    )
  }

  /** @param cost integers */
  async #preview(who: Who<L>, cost: number): Promise<BudgetDecision> {
    const { limiter, charges } = await this.#ask(who, cost)
    return toBudgetDecision(await limiter.preview(charges), this.#settings.money, cost)
  }

  /** Where a client's own budget of a level is kept. */
  async #levelOf(who: Who<L>, level: L) {
    const { limiter, charges } = await this.#ask(who, 0)
    const names = [...this.#settings.levels.keys()].filter((name) => who[name as L] !== null)
    const policy = checkOneOf('level', level, names)
    return { limiter, policy, key: (charges[names.indexOf(policy)] as Charge).key }
  }

  /** Returns the charges of a call, and their limiter. @param cost integers */
  async #ask(who: Who<L>, cost: number) {
    checkObject('who', who, '{ key, team }')
    const own = [...this.#settings.levels].filter(([name]) => who[name as L] !== null)
    const ids = own.map(([name]) => checkId(`who.${name}`, who[name as L]))
    const outermost = checkId('who', ids.at(-1))
    const ofLevels = own.map(async ([name, { units, unitsOf }], i): Promise<LevelCharge> => {
      const id = ids[i] as string
      return { name, key: shardedKey(outermost, id), limit: units ?? (await unitsOf(id)), cost }
    })
    const ofRun = this.#ofRun.map((charge) => {
      const isCalls = charge.name.startsWith('calls')
      const key = shardedKey(outermost, charge.key)
      return { ...charge, key, cost: isCalls ? Math.min(1, cost) : cost }
    })
    const all = [...(await Promise.all(ofLevels)), ...ofRun]
    const limiter = this.#limiterOf(all.map(({ name }) => name))
    return { limiter, charges: limiter.chargesOf(all) }
  }

  #limiterOf(names: readonly string[]): LevelLimiter {
    const id = names.join()
    const [first] = this.#limiters.values()
    const limiter = this.#limiters.get(id) ?? new LevelLimiter(this.#settings, names, first?.store)
    if (first !== undefined) limiter.events.onCharge = first.events.onCharge
    this.#limiters.set(id, limiter)
    return limiter
  }

  /** Returns the price of usage, an integer; undefined if it has no numbers, or no price. */
  #priceOf(usage: Usage): number | undefined {
    checkObject('usage', usage, '{ model, input, output }')
    const { money, price } = this.#settings
    const given = Object.entries(usage).filter(([, value]) => value !== undefined)
    const counts = given.filter(([name]) => name !== 'model').map(([, count]) => count)
    const isUsage =
      counts.length > 0 && counts.every((each) => typeof each === 'number' && each >= 0)
    const zeros = { model: '', input: 0, output: 0, cached: 0, cacheWrite: 0 }
    try {
      const cost = money.ofCost(price({ ...zeros, ...Object.fromEntries(given) }))
      if (typeof usage.model === 'string' && isUsage && cost !== undefined) return cost
    } catch {
      // As if it had returned nothing.
    }
    const name = JSON.stringify(String(usage.model).slice(0, MAX_NAME))
    warnOnce(
      'SLUICE_PRICE',
      `${name} has no price, or its usage no numbers. Such a call is refused, and what it has used costs its estimate. Add its price.`,
    )
    return undefined
  }
}

/**
 * Budgets in money or tokens, of several levels that are decided together.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function createBudget<L extends string>(options: BudgetOptions<L>): Budget<L> {
  return new Budget(readSettings(options))
}

function checkId(option: string, id: unknown): string {
  if (typeof id === 'string' && id !== '') return id
  throw wrong(option, 'text of at least one character', id, `Give ${option} the id of the client.`)
}
