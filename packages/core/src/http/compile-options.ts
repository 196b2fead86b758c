import { SluiceError } from '../errors/sluice-error.ts'
import type { KeyKind } from '../key/notation.ts'
import { compilePolicies } from '../limiter/policies.ts'
import type { Policy } from '../limiter/policy.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { checkObject } from '../options/checks.ts'
import { parseDuration } from '../options/duration.ts'
import { checkKnown } from '../options/known.ts'
import { PLACES } from '../options/places.ts'
import { readOptions } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'
import { composeProfiles, type HeaderProfile, type Profile } from './fields/profiles/index.ts'
import { Access } from './keys/access-list.ts'
import { type CheckedKey, type KeyReader, keyReader } from './keys/key-reader.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import type { RequestAdapter } from './request-adapter.ts'
import type { SettleOption } from './settlement/settle-option.ts'

const DEFAULT_HOLD_MS = parseDuration('hold', OPTIONS.concurrency.hold.default)

/** A function of a request and the key that the policy has read from it. */
type Reader<Request, T> = (request: Request, key: string) => MaybePromise<T>

/** How one policy's charge is read from a request. */
export interface ChargeRule<Request, Response> {
  readonly policy: Policy
  readonly key: KeyReader<Request>
  readonly keyKind: KeyKind
  /** Undefined if the limit is the policy's own. */
  readonly limit: Reader<Request, unknown> | undefined
  /** Undefined unless the anchor is a function. */
  readonly anchor: Reader<Request, unknown> | undefined
  /** Undefined unless the window is a function. */
  readonly window: Reader<Request, unknown> | undefined
  /** Units, or a function of the request that gives them. */
  readonly cost: number | Reader<Request, unknown>
  readonly settle: SettleOption<Request, Response> | undefined
}

/** What a policy reads, with the types of a framework. */
interface RequestValues<Request, Response> {
  readonly key: CheckedKey<Request>
  readonly cost: number | Reader<Request, unknown>
  readonly settle: SettleOption<Request, Response> | undefined
}

/** The options, checked and with their defaults. */
export interface CompiledOptions<Request, Response> {
  readonly rules: readonly ChargeRule<Request, Response>[]
  /** Whether a rule settles. */
  readonly settles: boolean
  /** Whether a rule takes a slot, to be given back at the end of the response. */
  readonly holdsSlots: boolean
  /** The shortest `hold`, or its default where no policy has one, ms. */
  readonly holdMs: number
  /** The kinds of keys besides addresses. */
  readonly keyKinds: readonly KeyKind[]
  /** Whether a key or a list needs the address of clients. */
  readonly needsAddress: boolean
  readonly ipv6Prefix: number
  readonly access: Access | undefined
  readonly profile: Profile
  readonly skip: RateLimitOptions<Request, Response>['skip']
  readonly retryAfterJitter: number
  readonly statusCode: 429 | 503
  readonly dryRun: boolean
  readonly maxWaiting: number
  readonly partitionSecret: string | undefined
}

/** @throws SluiceError */
export function compileOptions<Request, Response>(
  options: RateLimitOptions<Request, Response>,
  adapter: RequestAdapter<Request, Response>,
): CompiledOptions<Request, Response> {
  checkObject('options', options, 'the options of a rate limit')
  checkKnown('', options, PLACES.http)
  const { ipv6Prefix, retryAfterJitter, statusCode, dryRun, maxWaiting, partitionSecret, headers } =
    readOptions(OPTIONS.http, '', options)
  const { allow, deny } = options
  const listed = allow !== undefined || deny !== undefined
  const rules = compileRules(options, ipv6Prefix, adapter)
  const holds = rules.flatMap(({ policy }) => (policy.holdsSlots ? policy.windowMs : []))
  const access = listed ? new Access(allow ?? [], deny ?? [], ipv6Prefix) : undefined
  return {
    rules,
    settles: rules.some(({ settle }) => settle !== undefined),
    holdsSlots: holds.length > 0,
    holdMs: holds.length > 0 ? Math.min(...holds) : DEFAULT_HOLD_MS,
    keyKinds: rules.map(({ keyKind }) => keyKind),
    needsAddress: access?.hasRanges || rules.some(({ keyKind }) => keyKind !== 'function'),
    ipv6Prefix,
    access,
    profile: composeProfiles(profilesOf(headers)),
    skip: options.skip,
    retryAfterJitter,
    statusCode,
    dryRun,
    maxWaiting,
    partitionSecret,
  }
}

function compileRules<Request, Response>(
  options: RateLimitOptions<Request, Response>,
  ipv6Prefix: number,
  adapter: RequestAdapter<Request, Response>,
): ChargeRule<Request, Response>[] {
  const common = readOptions(OPTIONS.requestPolicy, '', options)
  return compilePolicies(options, PLACES.httpPolicy).map((policy, i) => {
    const own = options.policies?.[i] ?? options
    const path = own === options ? '' : `policies[${i}]`
    // `settle` corrects the `cost` of the same policy.
    const inherited = policy.holdsSlots
      ? { ...common, cost: 1, settle: undefined }
      : own.cost === undefined
        ? common
        : { ...common, settle: undefined }
    const values =
      own === options ? common : readOptions(OPTIONS.requestPolicy, path, own, inherited)
    const { key, cost, settle } = values as RequestValues<Request, Response>
    const limit = (own as { limit?: unknown; concurrent?: unknown })[policy.limitOption]
    if (policy.unit !== 'requests' && !policy.holdsSlots)
      checkCounted(policy, own.cost ?? options.cost ?? settle)
    return {
      policy,
      keyKind: typeof key === 'function' ? 'function' : key,
      key: keyReader(key, options.user, ipv6Prefix, adapter),
      limit: typeof limit === 'function' ? (limit as Reader<Request, unknown>) : undefined,
      anchor: typeof own.anchor === 'function' ? own.anchor : undefined,
      window: typeof own.window === 'function' ? own.window : undefined,
      cost:
        typeof cost === 'function'
          ? cost
          : checkPayable(cost, own.cost === undefined ? '' : path, policy),
      settle,
    }
  })
}

/** Refuses a unit other than requests without `cost`: every request would cost one of whatever is counted. */
function checkCounted({ name, unit }: Policy, counter: unknown): void {
  if (counter !== undefined) return
  throw new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: 'cost',
    expected: `cost or settle with unit: '${unit}'`,
    received: undefined,
    fix: `Say how many ${unit} a request costs: by default the policy '${name}' would count requests.`,
  })
}

/** A cost above the limit could never be paid; with a limit of 0 that is intended. */
function checkPayable(cost: number, path: string, { name, compiledLimit }: Policy): number {
  const most = compiledLimit?.units ?? Infinity
  if (cost <= most || most === 0) return cost
  throw new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: path === '' ? 'cost' : `${path}.cost`,
    expected: `at most ${most}, which is all that the policy '${name}' ever admits`,
    received: cost,
    fix: `Lower the cost, or raise the limit: a request with this cost could never be admitted.`,
  })
}

function profilesOf(headers: unknown): readonly HeaderProfile[] {
  if (headers === false) return []
  return (Array.isArray(headers) ? headers : [headers]) as readonly HeaderProfile[]
}
