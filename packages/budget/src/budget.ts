import type { GrantOptions as Grant, OverrideOptions as Override } from '@sluice/core'
import { checkInteger, checkKnown, checkObject, checkOneOf } from '@sluice/core/internal'
import type { ChargeListener, Metered } from '@sluice/meter'
import { aiSdk } from './ai-sdk.ts'
import { budgetedFetch } from './budgeted-fetch.ts'
import { type BudgetCall, type BudgetDecision, BudgetError, toCall, unpriced } from './call.ts'
import { type Level, levelsOfRun } from './level.ts'
import { LevelLimiter } from './level-limiter.ts'
import type { ModelCall } from './model-call.ts'
import { wrong } from './money.ts'
import { type BudgetOptions, readSettings, type Settings, type Usage } from './options.ts'
import { priceOf } from './price.ts'
import { countedTools } from './tools.ts'

/**
 * The owners of the budgets, from data that you have verified: an id for each level, or null if the
 * client has no such level.
 */
export type Who<L extends string = string> = { readonly [level in L]: string | null }

/** All calls of an agent run, from any process. A run is counted for at least three days. */
export interface RunOptions {
  /** Identifies the run within its outermost level. */
  readonly id: string
  /**
   * The most that it may cost: a number in the budget's unit, or text with the unit, `'2 USD'`.
   * Default: any amount.
   */
  readonly max?: number | string | undefined
  /** How many calls it may make. Integer. Default: any number. */
  readonly maxCalls?: number | undefined
  /** How many calls of `tools` it may make; the next one ends it. Integer. Default: any number. */
  readonly maxToolCalls?: number | undefined
}

/**
 * A client's own budget, in the budget's unit; 0 refuses everything; null restores that of the
 * options.
 */
export interface OverrideOptions<L extends string = string>
  extends Pick<Override, 'limit' | 'until'> {
  readonly level: L
}

/** A top-up. An `id`, such as that of a payment, is added only once. */
export interface GrantOptions<L extends string = string> extends Pick<Grant, 'until' | 'id'> {
  readonly level: L
}

/** Budgets of several levels, or of a run within them. */
export class Budget<L extends string = string> {
  /** For `meter` of `@sluice/meter`: the charges on all levels, and by runs. */
  readonly limiter: Metered
  readonly #settings: Settings
  /** The limiters, by the names of the policies that they decide. The first one has opened the store. */
  readonly #limiters: Map<string, LevelLimiter>
  readonly #runs: readonly (readonly Level[])[]

  /** @param runs what each run limits, the innermost first */
  constructor(
    settings: Settings,
    limiters = new Map<string, LevelLimiter>(),
    runs: readonly (readonly Level[])[] = [],
  ) {
    this.#settings = settings
    this.#limiters = limiters
    this.#runs = runs
    const { counted, store } = this.#limiterOf(settings.levels)
    this.#limiterOf([...settings.levels, ...runs.flat()])
    const observe = (listener: ChargeListener | undefined) => {
      for (const { events } of limiters.values()) events.onCharge = listener
    }
    this.limiter = { counted, places: [counted], store, observe }
  }

  /**
   * Reserves the most that a call may cost, on all levels or none.
   * @param estimate its input, and the most output that it may have
   * @throws SluiceError (a rejection) for a wrong argument; a refusal is a value
   */
  async reserve(who: Who<L>, estimate: Usage): Promise<BudgetCall> {
    return this.#open(who, [estimate])
  }

  /** Decides as `reserve` would; changes nothing. */
  async fits(who: Who<L>, estimate: Usage): Promise<BudgetDecision> {
    const price = priceOf(this.#settings, estimate)
    return price === undefined ? unpriced : this.#preview(who, price || 1)
  }

  /** The usage of all levels; changes nothing. */
  async usage(who: Who<L>): Promise<BudgetDecision> {
    return this.#preview(who, 0)
  }

  /**
   * Charges usage without a reservation, into debt if necessary: a batch, or the difference to the
   * provider's bill.
   * @throws SluiceError (a rejection) if the usage has no price
   */
  async settle(who: Who<L>, usage: Usage): Promise<void> {
    const cost = priceOf(this.#settings, usage)
    if (cost === undefined) {
      const expected = 'numbers from 0 on, of a model with a price'
      const fix = 'Add its price. Give back with correct(who, amount).'
      throw wrong('usage', expected, usage, fix)
    }
    await this.#settleNow(who, cost)
  }

  /**
   * Corrects the charges of the current windows, on all levels: a positive amount charges more, a
   * negative one gives back at most what was charged.
   * @param amount in the budget's unit
   * @throws SluiceError (a rejection) for a wrong argument
   */
  async correct(who: Who<L>, amount: number): Promise<void> {
    const units = this.#settings.money.ofLimit('amount', amount < 0 ? -amount : amount)
    await this.#settleNow(who, amount < 0 ? -units : units)
  }

  /**
   * Gives a client its own budget on one level, and keeps it in the store.
   * @throws SluiceError (a rejection) for a wrong argument, StoreError if the store does not
   *   confirm it
   */
  async override(who: Who<L>, { level, limit, ...options }: OverrideOptions<L>): Promise<void> {
    const { limiter, key, policy } = await this.#levelOf(who, level)
    const units = limit === null ? null : this.#settings.money.ofLimit('limit', limit)
    await limiter.overrideKey(key, { ...options, policy, limit: units })
  }

  /**
   * Tops up a client's budget on one level until the window ends. It adds to `override`.
   * @returns false if a top-up with this `id` was already made
   * @throws SluiceError (a rejection) for a wrong argument, StoreError if the store does not
   *   confirm it
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
   * Creates a budget for one run, whose calls must fit into the run's own limits, all levels, and
   * the runs that it is in.
   * @throws SluiceError for invalid options
   */
  run(options: RunOptions): Budget<L> {
    checkObject('options', options, '{ id, max, maxCalls, maxToolCalls }')
    checkKnown('', options, ['id', 'max', 'maxCalls', 'maxToolCalls'])
    const { id, max, maxCalls, maxToolCalls } = options
    const { counted, money, soft } = this.#settings
    if (soft) throw wrong('run()', 'a budget without soft', soft, 'Make another budget for runs.')
    if ((max ?? maxCalls ?? maxToolCalls) === undefined)
      throw wrong('max', 'max, maxCalls or maxToolCalls', undefined, "Limit the run: max: '2 USD'.")
    const key = checkId('id', id)
    const ofRun: Level[] = []
    const limit = (shown: string, units: number, options: object) =>
      ofRun.push(...levelsOfRun(shown, this.#runs.length, key, units, options))
    if (max !== undefined) limit('run', money.ofText('max', max), counted)
    if (maxCalls !== undefined) {
      const most = checkInteger('maxCalls', maxCalls, 0, Number.MAX_SAFE_INTEGER)
      limit('calls', most, { unit: 'calls' })
    }
    if (maxToolCalls !== undefined) {
      const most = checkInteger('maxToolCalls', maxToolCalls, 0, Number.MAX_SAFE_INTEGER - 1)
      // The first call that is refused is counted too: from then on, nothing is admitted.
      limit('toolCalls', most + 1, { unit: 'calls' })
    }
    return new Budget(this.#settings, this.#limiters, [ofRun, ...this.#runs])
  }

  /**
   * Middleware for the AI SDK's `wrapLanguageModel`. Calls that do not fit reject with a
   * `BudgetError`.
   */
  aiSdk(who: Who<L>): ReturnType<typeof aiSdk> {
    return aiSdk((...call) => this.#open(who, ...call), this.#settings)
  }

  /**
   * A `fetch` for the OpenAI and Anthropic clients. Calls that do not fit get 429, which the
   * clients retry only if the reason is calls in progress.
   * @param fetch sends the requests. Default: the platform's
   */
  fetch(who: Who<L>, fetch = globalThis.fetch): typeof globalThis.fetch {
    return budgetedFetch(fetch, (...call) => this.#open(who, ...call), this.#settings)
  }

  /**
   * Tools of the AI SDK or of OpenAI's agents whose calls a run counts, before they run. The call after the last one
   * rejects with a `BudgetError`, and so does every later call of a model: the run has ended.
   * @param tools an object or an array. Those that run elsewhere are not counted
   * @throws SluiceError if no run has `maxToolCalls`
   */
  tools<T extends object>(who: Who<L>, tools: T): T {
    const levels = this.#runs.flat().filter(({ shown }) => shown === 'toolCalls')
    if (levels.length === 0)
      throw wrong('tools()', 'a run with maxToolCalls', undefined, 'Give run() maxToolCalls.')
    if (!Array.isArray(tools)) checkObject('tools', tools, 'the tools of an agent')
    return countedTools(tools, async () => {
      const { limiter, charges } = await this.#ask(who, 0, levels)
      const refusal = await limiter.countTool(charges)
      if (refusal !== undefined) throw new BudgetError(refusal)
    })
  }

  /** Closes the budget, its runs, and a store that it created itself. */
  close(): void {
    for (const limiter of [...this.#limiters.values()].reverse()) limiter.close()
  }

  /**
   * @param estimates one for each model that may answer
   * @param made the call of an integration
   */
  async #open(who: Who<L>, estimates: readonly Usage[], made?: ModelCall): Promise<BudgetCall> {
    const { counted, soft } = this.#settings
    const prices = estimates.map((each) => priceOf(this.#settings, each) ?? Infinity)
    const most = Math.max(...prices)
    if (most === Infinity) return toCall(unpriced)
    // Each call has a reservation, so that none is unseen.
    const cost = most || 1
    const { limiter, charges } = await this.#ask(who, soft ? 0 : cost)
    const decision = await limiter.charge(charges, soft)
    if (soft) await limiter.settle(charges, decision.policies, cost)
    const shown = await limiter.show(charges, decision, cost)
    if (!decision.allowed && !soft) return toCall(shown)
    let ending: Promise<void> | undefined
    const end = (actual: number) => {
      ending ??= limiter.settle(charges, decision.policies, actual - cost)
      held?.release()
      return ending
    }
    const ended = (reason: string) => void (reason === 'abandoned' && end(cost))
    const held =
      counted.hold === undefined ? undefined : limiter.hold(charges, decision, ended, made)
    // The model that answers may have a name of its own. Who has reserved by hand says which one it is.
    const asked = made && estimates[prices.indexOf(most)]?.model
    const paid = (usage?: Usage) => usage && priceOf(this.#settings, usage, asked)
    return toCall(
      { ...shown, allowed: true, reason: undefined },
      {
        settle: async (usage) => end(paid(usage) ?? cost),
        release: async (seen) => end(Math.max(cost, paid(seen) ?? 0)),
        cancel: async () => end(0),
      },
    )
  }

  /** @param delta integers */
  async #settleNow(who: Who<L>, delta: number): Promise<void> {
    const { limiter, charges } = await this.#ask(who, 0)
    const now = charges.map(() => ({}))
    await limiter.settle(charges, now, delta)
  }

  /** @param cost integers */
  async #preview(who: Who<L>, cost: number): Promise<BudgetDecision> {
    const { limiter, charges } = await this.#ask(who, cost)
    return limiter.show(charges, await limiter.preview(charges), cost)
  }

  /** Where a client's own budget of a level is kept. */
  async #levelOf(who: Who<L>, level: L) {
    const { limiter, charges, names } = await this.#ask(who, 0)
    const policy = checkOneOf('level', level, names)
    return { limiter, policy, key: charges[names.indexOf(policy)]?.key as string }
  }

  /**
   * Returns the charges of a call, their limiter, and the levels that the client has.
   * @param cost integers
   * @param tools the levels of a call of a tool. Left out: a model is called
   */
  async #ask(who: Who<L>, cost: number, tools?: readonly Level[]) {
    checkObject('who', who, '{ key, team }')
    const own = this.#settings.levels.filter(({ name }) => who[name as L] !== null)
    const names = own.map(({ name }) => name)
    const ids = names.map((name) => checkId(`who.${name}`, who[name as L]))
    checkId('who', ids.at(-1))
    const levels = tools ?? [...own, ...this.#runs.flat()]
    const limiter = this.#limiterOf(levels)
    return { names, limiter, charges: await limiter.chargesOf(levels, ids, cost, tools && 1) }
  }

  #limiterOf(levels: readonly Level[]): LevelLimiter {
    const names = levels.map(({ policy }) => policy.name).join()
    const [first] = this.#limiters.values()
    const limiter =
      this.#limiters.get(names) ?? new LevelLimiter(this.#settings, levels, first?.store)
    if (first !== undefined) limiter.events.onCharge = first.events.onCharge
    this.#limiters.set(names, limiter)
    return limiter
  }
}

/**
 * Creates budgets in money or tokens, on several levels that are decided together.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function createBudget<L extends string>(options: BudgetOptions<L>): Budget<L> {
  return new Budget(readSettings(options))
}

function checkId(option: string, id: unknown): string {
  if (typeof id === 'string' && id !== '') return id
  throw wrong(option, 'text of at least one character', id, `Give ${option} the id of the client.`)
}
