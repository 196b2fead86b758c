import {
  type Algorithm,
  type AlgorithmParams,
  type CompiledLimit,
  MAX_LIMIT,
} from '../algorithms/algorithm.ts'
import { calendarWindow } from '../algorithms/calendar-window/calendar-window.ts'
import { concurrency } from '../algorithms/concurrency/concurrency.ts'
import { algorithms } from '../algorithms/index.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { ALGORITHM_OPTIONS, algorithmsWith } from '../options/algorithm-options.ts'
import { readOptions, type Values } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'
import type { Unit } from '../options/unit.ts'
import { formatKeyspace, type KeyspaceName } from '../stores/inspection/keyspace-name.ts'
import { asWindowTerms } from './concurrency-options.ts'
import type { PolicyOptions } from './options.generated.ts'
import { PolicyWindow, type WindowTerms } from './policy-window.ts'

/** The longest that a token bucket takes to refill, ms. */
const MAX_REFILL_MS = 1e15
/** The most limits of a window that are kept, more than any system of tiers has. Beyond, all start anew. */
const MAX_TIERS = 1000

/** What a limit was compiled from. */
interface Configured extends WindowTerms {
  readonly limit: number
}

/** A policy as the user wrote it: of what is checked here, the types are not known yet. */
type PolicyInput = Omit<PolicyOptions, 'limit' | 'window'> & { limit?: unknown; window?: unknown }

/** A policy, checked and compiled. */
export class Policy {
  readonly name: string
  /** The limit of every request, or undefined if it depends on the request. */
  readonly compiledLimit: CompiledLimit | undefined
  /** The option that its quota comes from. */
  readonly limitOption: 'limit' | 'concurrent'
  readonly algorithm: Algorithm
  /** Whether it counts what is in use at the same time: each of its charges needs a slot. */
  readonly holdsSlots: boolean
  readonly unit: Unit
  /** The user's other options of the algorithm; missing ones have its defaults. */
  readonly params: Omit<AlgorithmParams, 'limit' | 'windowMs'>
  private readonly path: string
  private readonly window: PolicyWindow
  private readonly values: Values<typeof OPTIONS.policy>
  /** The compiled limits, by their window and the limit. */
  private readonly tiers = new Map<WindowTerms, Map<unknown, CompiledLimit>>()
  private readonly configured = new WeakMap<CompiledLimit, Configured>()
  private readonly shares = new WeakMap<CompiledLimit, CompiledLimit>()

  /**
   * @param path the option in messages: `policies[0]`, or '' for a limiter with a single policy
   * @param options what the user wrote; with `limit` a function, `limitFor` compiles each value
   * @throws SluiceError
   */
  constructor(path: string, options: PolicyInput) {
    const terms = asWindowTerms(path, options)
    const isConcurrent = terms !== options
    this.values = readOptions(OPTIONS.policy, path, terms)
    const { name, limit, algorithm, unit, burst, maxDelay: maxDelayMs, anchor } = this.values
    this.path = path
    this.name = name
    this.limitOption = isConcurrent ? 'concurrent' : 'limit'
    this.window = new PolicyWindow(path === '' ? '' : `${path}.`, this.values)
    const counted = this.window.unit === undefined ? algorithm : 'fixed-window'
    this.algorithm = isConcurrent ? concurrency : algorithms[counted]
    this.holdsSlots = this.algorithm.holdsSlots === true
    this.unit = isConcurrent ? 'concurrent-requests' : unit
    this.checkAlgorithm(options)
    const oneOfSeveral = typeof limit === 'function'
    this.params = { burst, maxDelayMs, oneOfSeveral }
    const varies = oneOfSeveral || typeof anchor === 'function' || this.window.varies
    this.compiledLimit = varies ? undefined : this.compile(limit, this.window.typical)
  }

  /** The longest that a window lasts, ms; a minute if it is a function of the request. */
  get windowMs(): number {
    return this.window.typical.windowMs
  }

  /** Whether the window is a function of the request. */
  get windowVaries(): boolean {
    return this.window.varies
  }

  /** Units per window, or undefined if it is a function of the request. */
  get limit(): number | undefined {
    const { limit } = this.values
    return typeof limit === 'number' ? limit : undefined
  }

  /** The limit, or a typical one: see `typicalFor`. */
  get typicalLimit(): CompiledLimit {
    return this.typicalFor(undefined, undefined)
  }

  /**
   * A limit whose keyspace serves (nearly) all values of `limit`, if that is a function, and all keys of
   * this length of window.
   *
   * @param limit a value of the option, if that is a function. Default: a typical one
   * @param window a value of the option, if that is a function. Default: a length that is assumed
   */
  typicalFor(limit: unknown, window: unknown): CompiledLimit {
    const value = this.limit ?? limit ?? this.params.burst ?? 1
    const { typical, varies } = this.window
    const terms = varies && window !== undefined ? this.window.of(window, undefined) : typical
    return this.compiledLimit ?? this.tier(value, terms)
  }

  /**
   * The compiled limit of a request. Each argument is what the option's function returned; it is ignored if
   * the option is not a function.
   *
   * @throws SluiceError if one is wrong
   */
  limitFor(limit?: unknown, anchor?: unknown, window?: unknown): CompiledLimit {
    return this.tier(this.limit ?? limit, this.window.of(window, anchor))
  }

  /**
   * The limit for a share of one of this policy's limits: at least one unit, if that has
   * any.
   * @param share above 0, up to 1, always the same
   */
  shareOf(limit: CompiledLimit, share: number): CompiledLimit {
    const known = this.shares.get(limit)
    if (known !== undefined) return known
    const { burst } = this.params
    const configured = this.configured.get(limit) as Configured
    const part = this.limitOf({
      ...this.params,
      ...configured,
      limit: wholeShare(configured.limit, share),
      burst: burst === undefined ? undefined : wholeShare(burst, share),
    })
    this.shares.set(limit, part)
    return part
  }

  /** @throws SluiceError if an option is a function: only adapters have a request to call it with */
  assertStatic(): void {
    const varying = Object.entries(this.values).find(([, value]) => typeof value === 'function')
    if (varying === undefined) return
    const [option, received] = varying
    throw new SluiceError({
      code: 'SLUICE_OPTION_TYPE',
      option: this.at(option === 'limit' ? this.limitOption : option),
      expected: 'the same value for every request',
      received,
      fix: 'Create a limiter for each value: only adapters have a request to call the function with.',
    })
  }

  /**
   * Separates the keys of this policy from those of all others in a store: two limiters share a quota
   * if store, prefix, name, algorithm with its own options, window and limit are the same. A limit
   * that is a function counts as one, whatever its values; a window that is one has a keyspace for
   * each length.
   */
  space(limit: CompiledLimit): string {
    const { algorithm, name: policy, own } = this
    const { windowMs } = this.configured.get(limit) as Configured
    const { scale } = limit
    return formatKeyspace({
      algorithm: algorithm.name,
      windowMs,
      limit: this.limit,
      own,
      scale,
      policy,
    })
  }

  /** The options of its algorithm that differ from the defaults. */
  private get own(): KeyspaceName['own'] {
    const { values, algorithm, limit } = this
    const entries = ALGORITHM_OPTIONS.map((option) => {
      const usual = algorithm.options[option] === 'limit' ? limit : algorithm.options[option]
      return [option, values[option] === usual ? undefined : values[option]]
    })
    return Object.fromEntries(entries)
  }

  private tier(limit: unknown, window: WindowTerms): CompiledLimit {
    const tiers = this.tiers.get(window) ?? new Map<unknown, CompiledLimit>()
    const known = tiers.get(limit)
    if (known !== undefined) return known
    const compiled = this.compile(limit, window)
    if (tiers.size === MAX_TIERS) tiers.clear()
    tiers.set(limit, compiled)
    this.tiers.set(window, tiers)
    return compiled
  }

  private compile(limit: unknown, window: WindowTerms): CompiledLimit {
    const { maxLimit } = this.algorithm
    const checked = OPTIONS.policy.limit.type.check(this.at(this.limitOption), limit, maxLimit)
    const configured = { ...window, limit: checked }
    if (checked > 0) this.checkProportions(configured)
    const compiled = this.limitOf({ ...this.params, ...configured })
    this.configured.set(compiled, configured)
    return compiled
  }

  private limitOf(params: AlgorithmParams): CompiledLimit {
    const algorithm = params.calendar === undefined ? this.algorithm : calendarWindow
    return algorithm.compile(params.limit === 0 ? { ...params, burst: 0 } : params)
  }

  /** Keeps queues and refill times within exact integers. */
  private checkProportions({ limit, windowMs }: Configured): void {
    const { burst, maxDelayMs } = this.params
    const refillMs = ((burst ?? 0) / limit) * windowMs
    if (refillMs > MAX_REFILL_MS) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_RANGE',
        option: this.at('burst'),
        expected: 'a burst that refills within 10^15 ms',
        received: burst,
        fix: 'Lower burst, or raise limit.',
      })
    }
    const queued = ((maxDelayMs ?? 0) / windowMs) * limit
    if (queued >= MAX_LIMIT) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_RANGE',
        option: this.at('maxDelay'),
        expected: `a delay in which fewer than ${MAX_LIMIT} units drain`,
        received: maxDelayMs,
        fix: 'Lower maxDelay, or limit.',
      })
    }
  }

  private at(option: string): string {
    return this.path === '' ? option : `${this.path}.${option}`
  }

  /** Options of other algorithms have no meaning, so that they must be a mistake. */
  private checkAlgorithm(options: { algorithm?: unknown }): void {
    if (options.algorithm !== undefined && options.algorithm !== this.algorithm.name) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_CONFLICT',
        option: this.at('algorithm'),
        expected: "'fixed-window', which windows of the calendar are",
        received: options.algorithm,
        fix: "Remove algorithm, or write the window as a duration such as '1d'.",
      })
    }
    for (const option of ALGORITHM_OPTIONS) {
      if ((options as Record<string, unknown>)[option] === undefined) continue
      const having = algorithmsWith(option)
      if (having.some((name) => name === this.algorithm.name)) continue
      throw new SluiceError({
        code: 'SLUICE_OPTION_CONFLICT',
        option: this.at(option),
        expected: `algorithm: '${having[0]}' with it`,
        received: this.algorithm.name,
        fix: `Remove ${this.at(option)}, or choose algorithm: '${having[0]}'.`,
      })
    }
  }
}

/** A share of a quota in units, rounded down, but at least one. */
function wholeShare(units: number, share: number): number {
  return units === 0 ? 0 : Math.max(1, Math.floor(units * share))
}
