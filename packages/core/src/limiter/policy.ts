import type {
  Algorithm,
  AlgorithmOption,
  AlgorithmParams,
  CompiledLimit,
  OwnParams,
} from '../algorithms/algorithm.ts'
import { calendarWindow } from '../algorithms/calendar-window/calendar-window.ts'
import { concurrency } from '../algorithms/concurrency/concurrency.ts'
import { algorithms } from '../algorithms/index.ts'
import { reserved } from '../algorithms/reserved/reserved.ts'
import { conflict } from '../errors/conflict.ts'
import { typeError } from '../options/checks.ts'
import { pathTo } from '../options/known.ts'
import { readOptions, type Values } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'
import type { Unit } from '../options/unit.ts'
import { formatKeyspace } from '../stores/inspection/keyspace-name.ts'
import { formatLive, formatParams } from '../stores/inspection/keyspace-text.ts'
import type { Keyspace } from '../stores/store.ts'
import { asWindowOptions } from './concurrency-options.ts'
import { checkLive, type LimitRange } from './live-bounds.ts'
import type { PolicyOptions } from './options.generated.ts'
import { checkAlgorithm, checkProportions } from './policy-checks.ts'
import { PolicyWindow, type WindowLimits } from './policy-window.ts'

const HOLD = OPTIONS.concurrency.hold

/** The most limits of a window that are kept, more than an application has plans. Beyond, all start anew. */
const MAX_LIMITS = 1000

/** A policy, checked and compiled. A value: a document that changes a live policy puts another one in its place. */
export class Policy {
  readonly name: string
  /** The limit of every request, in the form that refuses, or undefined if it depends on the request. */
  readonly compiledLimit: CompiledLimit | undefined
  /** Units per window, or undefined if it is a function of the request. */
  readonly limit: number | undefined
  /** The option that its quota comes from. */
  readonly limitOption: 'limit' | 'concurrent'
  readonly algorithm: Algorithm
  /** The longest that a window lasts, ms; a minute if it is a function of the request. */
  readonly windowMs: number
  /** Whether the window is a function of the request. */
  readonly windowVaries: boolean
  /** Whether it counts requests in progress: each of its charges needs a slot. */
  readonly holdsSlots: boolean
  readonly unit: Unit
  /** Whether what `acquire` charges is an estimate that ends with its process: each of its charges needs a slot. */
  readonly reserves: boolean
  /** How long a slot or an estimate is held without renewal, ms; undefined if the policy has neither. */
  readonly holdMs: number | undefined
  /** The share of its clients that it refuses, 0 … 1; for the others it is a dry run. */
  readonly enforced: number
  /** Undefined: no document changes it. */
  readonly live: LimitRange | undefined
  /** The shares of its limits that cause events, in their order. */
  readonly alertAt: readonly number[] | undefined
  /** The user's other options of the algorithm; missing ones have its defaults. */
  readonly params: Omit<AlgorithmParams, 'limit' | 'windowMs'>
  /** The algorithm that counts, wrapped where charges are reservations. */
  readonly #counting: Algorithm
  /** Where its options are, for messages: `policies[0]`, or '' of a limiter with a single policy. */
  readonly path: string
  /** The user's options; only a live policy keeps them. */
  readonly given: Omit<PolicyOptions, 'limit' | 'window'> | undefined
  /** The name that limiter, policy and route have together; '' without one. It is set when a limiter has the policy. */
  id = ''
  /** The policy as the code has it: documents may have changed this one. */
  readonly code: Policy
  readonly #window: PolicyWindow
  readonly #values: Values<typeof OPTIONS.policy>

  /**
   * @param options the user's options; with `limit` a function, `limitFor` compiles each value
   * @param code the policy whose settings these options change; left out: this is what the code has
   * @throws SluiceError
   */
  constructor(
    path: string,
    options: Omit<PolicyOptions, 'limit' | 'window'> & { limit?: unknown; window?: unknown },
    code?: Policy,
  ) {
    const windowOptions = asWindowOptions(path, options)
    const isConcurrent = windowOptions !== options
    this.#values = readOptions(OPTIONS.policy, path, windowOptions)
    const { name, limit, algorithm, unit, anchor, alertAt, reserve, dryRun, enforce } = this.#values
    this.path = path
    this.given = options.live ? options : undefined
    this.code = code ?? this
    this.name = name
    this.limitOption = isConcurrent ? 'concurrent' : 'limit'
    this.limit = typeof limit === 'number' ? limit : undefined
    this.#window = new PolicyWindow(path, this.#values)
    this.windowMs = this.#window.initial.windowMs
    this.windowVaries = this.#window.varies
    const counted = this.#window.unit === undefined ? algorithm : 'fixed-window'
    this.#counting = isConcurrent ? concurrency : algorithms[counted]
    this.reserves = reserve
    this.algorithm = reserve ? reserved(this.#counting) : this.#counting
    const { hold } = options as { hold?: unknown }
    if (reserve) this.holdMs = HOLD.type.check(this.at('hold'), hold ?? HOLD.default)
    else this.holdMs = isConcurrent ? this.windowMs : undefined
    this.holdsSlots = this.algorithm.holdsSlots === true
    this.unit = isConcurrent ? 'concurrent-requests' : unit
    this.alertAt = alertAt
    if (dryRun && enforce !== undefined)
      throw conflict(this.at('enforce'), 'either dryRun or enforce', enforce, 'Remove one of them.')
    this.enforced = dryRun ? 0 : (enforce ?? 1)
    checkAlgorithm(path, options, this.#counting)
    const holdMs = reserve ? this.holdMs : undefined
    const varies = typeof limit === 'function'
    this.params = { burst: this.#own('burst'), maxDelayMs: this.#own('maxDelay'), holdMs, varies }
    if (!varies && typeof anchor !== 'function' && !this.#window.varies) {
      const own = this.limitFor()
      const known = code?.compiledLimit
      // Stores have prepared for that of the code.
      const isSame = known && formatParams(known.params) === formatParams(own.params)
      this.compiledLimit = isSame ? known : own
    }
    const { maxLimit } = this.algorithm
    this.live = code?.live ?? checkLive(this.at('live'), this.#values.live, this.limit, maxLimit)
    if (this.live !== undefined && this.windowVaries)
      throw conflict(
        this.at('live'),
        'a window that is the same for every request',
        undefined,
        'Remove live, or write the window as a duration.',
      )
  }

  /**
   * A limit with the keyspace of all requests that have this length of window.
   *
   * @param window a value of the option, if that is a function. Default: a length that is assumed
   */
  anyLimit(window?: unknown): CompiledLimit {
    if (this.compiledLimit !== undefined) return this.compiledLimit
    const { initial, varies } = this.#window
    const inWindow = varies && window !== undefined ? this.#window.of(window, undefined) : initial
    return this.#limitIn(inWindow, this.limit ?? this.params.burst ?? 1)
  }

  /**
   * The compiled limit of a request. Each argument is what the option's function returned; it is ignored if
   * the option is not a function.
   *
   * @throws SluiceError if one is wrong
   */
  limitFor(limit?: unknown, anchor?: unknown, window?: unknown): CompiledLimit {
    return this.compiledLimit ?? this.#limitIn(this.#window.of(window, anchor), this.limit ?? limit)
  }

  /**
   * A limit of requests that have this window and anchor, each of which is what the option's function
   * returned; it is ignored if the option is not a function.
   */
  someLimit(window?: unknown, anchor?: unknown): CompiledLimit {
    return this.limitFor(this.params.burst ?? 1, anchor, window)
  }

  /**
   * Reads a client's own limit.
   * @throws SluiceError if it is out of range
   */
  ownParams(limit: unknown): OwnParams {
    const { burst, maxDelayMs } = this.params
    const { maxLimit } = this.algorithm
    const units = OPTIONS.policy.limit.type.check('limit', limit, maxLimit)
    checkProportions(this.path, { ...this.params, limit: units, windowMs: this.windowMs })
    return { limit: units, burst, maxDelayMs }
  }

  /**
   * The end of the window that `at` is in, ms since the epoch; of an algorithm without windows, of a span as long,
   * aligned to the epoch.
   *
   * @param resetMs when a quota that is in use is full again, ms from `at` on
   */
  windowEndOf({ windowMs }: CompiledLimit, at: number, resetMs: number): number {
    if (this.#counting.name === 'fixed-window') return at + resetMs
    return (Math.floor(at / windowMs) + 1) * windowMs
  }

  /** @throws SluiceError if an option is a function: only adapters have a request to call it with */
  assertStatic(): void {
    const varying = Object.entries(this.#values).find(([, value]) => typeof value === 'function')
    if (varying === undefined) return
    const [option, received] = varying
    throw typeError(
      this.at(option === 'limit' ? this.limitOption : option),
      received,
      'the same value for every request',
      'Create a limiter for each value: only adapters have a request to call the function with.',
    )
  }

  /**
   * Where the requests that have this limit are counted.
   *
   * @param liveId the name by which documents know the policy, if they may change it
   */
  keyspace(limit: CompiledLimit = this.anyLimit(), liveId?: string): Keyspace {
    const { live, compiledLimit, code } = this
    return {
      name: formatKeyspace(this.name, limit),
      algorithm: limit.algorithm,
      limit: compiledLimit,
      params: this.limit === undefined ? undefined : limit.params,
      live: live && liveId && formatLive({ id: liveId, ...live, enforced: code.enforced }),
    }
  }

  #limitIn({ windowMs, calendar, limits }: WindowLimits, limit: unknown): CompiledLimit {
    let known = limits.get(limit)
    if (known === undefined) {
      const { maxLimit } = this.algorithm
      const units = OPTIONS.policy.limit.type.check(this.at(this.limitOption), limit, maxLimit)
      const params = { ...this.params, limit: units, windowMs, calendar }
      checkProportions(this.path, params)
      const counting = calendar === undefined ? this.#counting : calendarWindow
      known = (this.reserves ? reserved(counting) : counting).compile(params)
      if (limits.size === MAX_LIMITS) limits.clear()
      limits.set(limit, known)
    }
    return known
  }

  /** An option of the algorithm, unless it has the default. */
  #own(option: AlgorithmOption): number | undefined {
    const values = this.#values
    const { algorithm } = this
    const usual = algorithm.options[option] === 'limit' ? values.limit : algorithm.options[option]
    return values[option] === usual ? undefined : values[option]
  }

  /** The option in messages: `policies[0].limit`. */
  at(option: string): string {
    return pathTo(this.path, option)
  }
}
