import {
  type Algorithm,
  type AlgorithmOption,
  type AlgorithmParams,
  type CompiledLimit,
  MAX_LIMIT,
} from '../algorithms/algorithm.ts'
import {
  ALGORITHM_NAMES,
  type AlgorithmName,
  algorithms,
  DEFAULT_ALGORITHM,
} from '../algorithms/index.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { checkInteger, checkOneOf } from '../options/checks.ts'
import { type Duration, parseDuration } from '../options/duration.ts'

/** What one policy promises. */
export interface PolicyOptions {
  /**
   * Tells the policies of a limiter apart, in decisions, headers and keys: 1 … 128 printable ASCII
   * characters, unique whatever the case. Default: `'default'`.
   */
  name?: string
  /** Requests (units of cost) per window: an integer, 0 … 10^12. 0 refuses everything. */
  limit: number
  /** Integer ms, or text with a unit: 1 ms … ten years. */
  window: Duration
  /** Default: `'sliding-window'`. */
  algorithm?: AlgorithmName
  /** Token bucket: what it holds when full, in units, 1 … 10^12. Default: `limit`. */
  burst?: number
  /** Leaky bucket: the longest that an admitted request waits. Default: `'1s'`. */
  maxDelay?: Duration
}

export const POLICY_OPTIONS = ['name', 'limit', 'window', 'algorithm', 'burst', 'maxDelay'] as const

/** The longest that a token bucket takes to refill, ms. */
const MAX_REFILL_MS = 1e15
/** More limits of one policy than any scheme of tiers has: beyond it they are compiled anew. */
const MAX_TIERS = 1000

/** A policy, checked and compiled. */
export class Policy {
  readonly name: string
  readonly windowMs: number
  /** The quota of every request, or undefined if the limit is a function of the request. */
  readonly compiledLimit: CompiledLimit | undefined
  readonly algorithm: AlgorithmName
  /** What the user set beside the limit; what is missing has the algorithm's default. */
  readonly params: Omit<AlgorithmParams, 'limit'>
  private readonly path: string
  /** As the user wrote it. */
  private readonly givenLimit: unknown
  private readonly tiers = new Map<number, CompiledLimit>()
  private readonly configured = new WeakMap<CompiledLimit, number>()
  private readonly shares = new WeakMap<CompiledLimit, CompiledLimit>()

  /**
   * @param path the option in messages: `policies[0]`, or '' for a limiter with a single policy
   * @param options as the user wrote them; with `limit` a function, `limitFor` compiles each value
   * @throws SluiceError
   */
  constructor(path: string, options: Omit<PolicyOptions, 'limit'> & { limit: unknown }) {
    const { name = 'default', limit, window, algorithm = DEFAULT_ALGORITHM } = options
    this.path = path
    this.name = checkName(this.at('name'), name)
    this.algorithm = checkOneOf(this.at('algorithm'), algorithm, ALGORITHM_NAMES)
    this.windowMs = parseDuration(this.at('window'), window)
    this.params = {
      windowMs: this.windowMs,
      burst: this.only('burst', options.burst, (value) =>
        checkInteger(this.at('burst'), value, 1, MAX_LIMIT),
      ),
      maxDelayMs: this.only('maxDelay', options.maxDelay, (value) =>
        parseDuration(this.at('maxDelay'), value, 0),
      ),
      oneOfSeveral: typeof limit === 'function',
    }
    this.givenLimit = limit
    this.compiledLimit = typeof limit === 'function' ? undefined : this.compile(limit)
  }

  /** Units per window, or undefined if it is a function of the request. */
  get limit(): number | undefined {
    return this.compiledLimit === undefined ? undefined : (this.givenLimit as number)
  }

  /** The quota, or one of them: where the limit is a function its states serve (nearly) all others. */
  get typicalLimit(): CompiledLimit {
    return this.compiledLimit ?? this.limitFor(this.params.burst ?? 1)
  }

  /**
   * The quota for a limit that is a function of the request.
   * @throws SluiceError if `limit` is not one
   */
  limitFor(limit: unknown): CompiledLimit {
    const known = this.tiers.get(limit as number)
    if (known !== undefined) return known
    const compiled = this.compile(limit)
    if (this.tiers.size === MAX_TIERS) this.tiers.clear()
    this.tiers.set(limit as number, compiled)
    return compiled
  }

  /**
   * The quota of a share of what `quota`, one of this policy's, holds: at least one unit, if there
   * is any.
   * @param share above 0, up to 1, always the same
   */
  shareOf(limit: CompiledLimit, share: number): CompiledLimit {
    const known = this.shares.get(limit)
    if (known !== undefined) return known
    const { burst } = this.params
    const part = this.limitOf({
      ...this.params,
      limit: wholeShare(this.configured.get(limit) as number, share),
      burst: burst === undefined ? undefined : wholeShare(burst, share),
    })
    this.shares.set(limit, part)
    return part
  }

  /** @throws SluiceError if the limit is a function: only adapters have a request to call it with */
  assertStatic(): void {
    if (this.compiledLimit !== undefined) return
    throw new SluiceError({
      code: 'SLUICE_OPTION_TYPE',
      option: this.at('limit'),
      expected: 'a number',
      received: this.givenLimit,
      fix: 'Create a limiter for each tier: only adapters have a request to call the function with.',
    })
  }

  /**
   * Sets the keys of this policy apart from every other's in a store: two limiters share a quota
   * if store, prefix, name, algorithm, window and limit (unless that is a function) are the same.
   */
  space(limit: CompiledLimit): string {
    const units = this.compiledLimit === undefined ? '*' : `${this.compiledLimit.units}`
    const scale = limit.scale === '' ? '' : `/${limit.scale}`
    return `${this.algorithm}:${this.windowMs}:${units}${scale}:${this.name}`
  }

  private compile(limit: unknown): CompiledLimit {
    const checked = checkInteger(this.at('limit'), limit, 0, algorithms[this.algorithm].maxLimit)
    if (checked > 0) this.checkProportions(checked)
    const compiled = this.limitOf({ ...this.params, limit: checked })
    this.configured.set(compiled, checked)
    return compiled
  }

  private limitOf(params: AlgorithmParams): CompiledLimit {
    return algorithms[this.algorithm].compile(params.limit === 0 ? { ...params, burst: 0 } : params)
  }

  /** Keeps queues and times to refill within what counts exactly. */
  private checkProportions(limit: number): void {
    const { burst, maxDelayMs } = this.params
    const refillMs = ((burst ?? 0) / limit) * this.windowMs
    if (refillMs > MAX_REFILL_MS) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_RANGE',
        option: this.at('burst'),
        expected: 'a burst that refills within 10^15 ms',
        received: burst,
        fix: 'Lower burst, or raise limit.',
      })
    }
    const queued = ((maxDelayMs ?? 0) / this.windowMs) * limit
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

  private only<T>(
    option: AlgorithmOption,
    value: unknown,
    check: (value: unknown) => T,
  ): T | undefined {
    if (value === undefined) return undefined
    const has = (algorithm: Algorithm) => algorithm.options[option] !== undefined
    if (has(algorithms[this.algorithm])) return check(value)
    const algorithm = ALGORITHM_NAMES.find((name) => has(algorithms[name]))
    throw new SluiceError({
      code: 'SLUICE_OPTION_CONFLICT',
      option: this.at(option),
      expected: `algorithm: '${algorithm}' beside it`,
      received: this.algorithm,
      fix: `Remove ${this.at(option)}, or choose algorithm: '${algorithm}'.`,
    })
  }
}

/** In units, rounded down, at least one of any. */
function wholeShare(units: number, share: number): number {
  return units === 0 ? 0 : Math.max(1, Math.floor(units * share))
}

function checkName(option: string, name: unknown): string {
  if (typeof name === 'string' && /^[\x20-\x7e]{1,128}$/.test(name)) return name
  throw new SluiceError({
    code: 'SLUICE_OPTION_VALUE',
    option,
    expected: '1 to 128 printable ASCII characters, because header fields contain it',
    received: name,
    fix: 'Choose a short name such as burst or daily.',
  })
}
