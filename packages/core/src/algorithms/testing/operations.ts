import fc from 'fast-check'
import { type Limiter, type PolicyOptions, SluiceError } from '../../index.ts'
import type { ManualClock } from '../../testing/index.ts'
import { HOUR, TEN_YEARS } from './trace.ts'

/** What a key has of its own in a policy, by the number of that. */
interface OfPolicy {
  readonly key: string
  readonly policy: number
  readonly lasts?: number | undefined
}

/** An operation on a limiter, or on its clock. Times are ms. */
export type Operation =
  | { readonly pass: number }
  /** Several requests of one key, with these costs, come in one turn of the event loop. */
  | { readonly consume: readonly number[]; readonly key: string }
  /** One request of each key comes in one turn. */
  | { readonly consume: number; readonly keys: readonly string[] }
  | { readonly peek: string }
  /** `ago`: when the charge was made; negative where the clock has stepped back since. */
  | {
      readonly settle: number
      readonly key: string
      readonly ago?: number | undefined
      readonly remaining?: number | undefined
    }
  | { readonly block: number; readonly key: string }
  | { readonly reset: string }
  /** Sets the limit of one policy or ends it (null); `lasts` undefined: until it is ended. */
  | (OfPolicy & { readonly override: number | null })
  /** Ends what a key has in all policies. */
  | { readonly unset: string }
  /** Adds units; `lasts` undefined: with the window. */
  | (OfPolicy & { readonly grant: number; readonly id?: string | undefined })

/** Does one operation; returns the answers of the limiter, decisions or promises of them. */
export function perform(limiter: Limiter, clock: ManualClock, operation: Operation): unknown[] {
  if ('pass' in operation) {
    clock.advance(operation.pass)
    return []
  }
  if ('keys' in operation) {
    const cost = operation.consume
    return operation.keys.map((key) => limiter.consume(key, { cost }))
  }
  if ('consume' in operation) {
    return operation.consume.map((cost) => limiter.consume(operation.key, { cost }))
  }
  if ('peek' in operation) return [limiter.peek(operation.peek)]
  if ('settle' in operation) {
    const { key, settle, ago, remaining } = operation
    const at = ago === undefined ? {} : { at: clock() - ago }
    return [limiter.settle(key, settle, remaining === undefined ? at : { ...at, remaining })]
  }
  if ('override' in operation || 'grant' in operation || 'unset' in operation)
    return [codeOf(() => changeOwn(limiter, clock, operation))]
  if ('block' in operation) return [limiter.block(operation.key, operation.block)]
  return [limiter.reset(operation.reset)]
}

type OwnOperation = Extract<
  Operation,
  { override: unknown } | { grant: unknown } | { unset: unknown }
>

function changeOwn(limiter: Limiter, clock: ManualClock, operation: OwnOperation): unknown {
  if ('unset' in operation) return limiter.override(operation.unset, null)
  const { key, lasts } = operation
  const policy = `policy ${operation.policy}`
  const until = lasts === undefined ? undefined : clock() + lasts
  if ('override' in operation)
    return limiter.override(key, { policy, limit: operation.override, until })
  return limiter.grant(key, operation.grant, { policy, until, id: operation.id })
}

/** Returns the result, or the code of the error: the policy may not exist, or may refuse the operation. */
function codeOf(act: () => unknown): unknown {
  const caught = (error: unknown) => {
    if (error instanceof SluiceError) return error.code
    throw error
  }
  try {
    const done = act()
    return done instanceof Promise ? done.catch(caught) : done
  } catch (error) {
    return caught(error)
  }
}

const SECOND = 1000

const anyWindow = fc
  .oneof(
    fc.constantFrom(1, 7, 500, SECOND, SECOND, 60_000, TEN_YEARS),
    fc.integer({ min: 1, max: 5000 }),
  )
  .map((ms) => `${ms}ms` as const)
const anyLimit = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 9 }) },
  // Three sliding logs of a limiter have room for so many.
  { weight: 1, arbitrary: fc.constantFrom(0, 6_666) },
)
const anyLargeLimit = fc.oneof(anyLimit, fc.constantFrom(1e7, 1e9, 999_999_999_989, 1e12))

const anyPolicy: fc.Arbitrary<PolicyOptions> = fc.oneof(
  fc.record({
    algorithm: fc.constantFrom('fixed-window' as const, 'sliding-window' as const),
    limit: anyLargeLimit,
    window: anyWindow,
  }),
  fc.record({
    algorithm: fc.constant('sliding-log' as const),
    limit: anyLimit,
    window: anyWindow,
  }),
  fc.record({
    algorithm: fc.constant('token-bucket' as const),
    limit: anyLargeLimit,
    window: anyWindow,
    burst: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined, freq: 2 }),
  }),
  fc.record({
    algorithm: fc.constant('leaky-bucket' as const),
    limit: anyLimit,
    window: anyWindow,
    maxDelay: fc.constantFrom(0, 1, 499, SECOND, 60_000),
  }),
  fc.record({
    limit: anyLargeLimit,
    window: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
    timeZone: fc.constantFrom('UTC', 'America/New_York'),
  }),
)

/** Now and then a dry run, for all clients or for some. */
const anyEnforced = fc.constantFrom(undefined, undefined, undefined, undefined, 0, 0.5)

/** One to three policies that must all admit. */
export const anyPolicies: fc.Arbitrary<PolicyOptions[]> = fc
  .array(fc.tuple(anyPolicy, anyEnforced), { minLength: 1, maxLength: 3 })
  .map((policies) =>
    policies.map(([policy, enforce], i) => ({ ...policy, enforce, name: `policy ${i}` })),
  )

const anyKey = fc.constantFrom('a', 'a', 'a', 'b')
const anyPause = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(1, 250, 499, 500, 999, SECOND, 1001, 60_000) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2500 }) },
  { weight: 1, arbitrary: fc.constantFrom(HOUR, 24 * HOUR, TEN_YEARS, Math.floor(TEN_YEARS / 3)) },
  { weight: 2, arbitrary: fc.constantFrom(-1, -250, -SECOND, -HOUR) },
)
const anyCost = fc.oneof(
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom(1e6, 1e12, Number.MAX_SAFE_INTEGER) },
)
const anyDelta = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -9, max: 9 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1e12, -1e6, 1e6, 1e12) },
)
const anyAgo = fc.oneof(
  fc.constantFrom(undefined, 0, 500, SECOND, HOUR, -500, -HOUR),
  fc.integer({ min: -1000, max: 3000 }),
)

/** The remaining units that a queue reports, at times the exact number. */
const anyRemaining = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined })

const anyPlace = fc.constantFrom(0, 0, 0, 1, 2)
const anyLife = fc.constantFrom(undefined, undefined, 1, 300, SECOND, 60_000, HOUR, TEN_YEARS)

/** Operations of a kind, and how often they come beside others. */
export function often<T>(weight: number, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return { weight, arbitrary: fc.record(fields) }
}

const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  often(6, { pass: anyPause }),
  often(8, { consume: fc.array(anyCost, { minLength: 1, maxLength: 3 }), key: anyKey }),
  often(4, { consume: anyCost, keys: fc.subarray(['a', 'b', 'c'], { minLength: 2 }) }),
  often(2, { peek: anyKey }),
  often(3, { settle: anyDelta, key: anyKey, ago: anyAgo, remaining: anyRemaining }),
  often(1, { block: fc.constantFrom(1, 300, SECOND, HOUR), key: anyKey }),
  often(1, { reset: anyKey }),
  often(3, {
    override: fc.oneof(anyLargeLimit, fc.constantFrom(null, 0, 20)),
    key: anyKey,
    policy: anyPlace,
    lasts: anyLife,
  }),
  often(1, { unset: anyKey }),
  often(3, {
    grant: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(6_000, 1e7, 1e12)),
    key: anyKey,
    policy: anyPlace,
    lasts: anyLife,
    id: fc.constantFrom(undefined, 'one', 'other'),
  }),
)

export const anyOperations = fc.array(anyOperation, { minLength: 1, maxLength: 40 })
/** Long histories need fewer limiters for as many requests. */
export const anyLongOperations = fc.noBias(
  fc.array(anyOperation, { minLength: 400, maxLength: 400 }),
)
