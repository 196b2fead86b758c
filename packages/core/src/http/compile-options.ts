import { SluiceError } from '../errors/sluice-error.ts'
import type { KeyKind } from '../key/notation.ts'
import { compilePolicies } from '../limiter/policies.ts'
import { POLICY_OPTIONS, type Policy } from '../limiter/policy.ts'
import { checkCost, STORE_OPTIONS } from '../limiter/store-limiter.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkKnown,
  checkObject,
  checkOneOf,
  checkShare,
} from '../options/checks.ts'
import type { HeaderProfile } from './fields/profiles/index.ts'
import { composeProfiles, type Profile } from './fields/profiles/index.ts'
import { Access } from './keys/access-list.ts'
import { type KeyReader, keyReader } from './keys/key-reader.ts'
import { presentAddress } from './keys/left.ts'
import { readOnce } from './keys/read-once.ts'
import { type AddressReader, addressReader } from './keys/trust-proxy.ts'
import type { RateLimitOptions, RequestPolicyOptions, SettleOption } from './rate-limit-options.ts'
import type { RequestAdapter } from './request-adapter.ts'

const BY = ['ip', 'user'] as const

export const OPTIONS = [
  'limit',
  'window',
  'algorithm',
  'burst',
  'maxDelay',
  'policies',
  'cost',
  'key',
  'user',
  'ipv6Prefix',
  ...STORE_OPTIONS,
  'skip',
  'headers',
  'retryAfterJitter',
  'statusCode',
  'respond',
  'dryRun',
  'onDecision',
  'settle',
  'trustProxy',
  'allow',
  'deny',
  'maxWaiting',
  'partitionSecret',
] as const

type Reader<Request, T> = (request: Request) => MaybePromise<T>

/** How one policy's charge is read from a request. */
export interface ChargeRule<Request, Response> {
  readonly policy: Policy
  readonly key: KeyReader<Request>
  readonly keyKind: KeyKind
  /** Undefined if the limit is the policy's own. */
  readonly limit: Reader<Request, unknown> | undefined
  /** Units, or a function of the request that gives them. */
  readonly cost: number | Reader<Request, unknown>
  readonly settle: SettleOption<Request, Response> | undefined
}

/** The options, checked and with their defaults. */
export interface CompiledOptions<Request, Response> {
  readonly rules: readonly ChargeRule<Request, Response>[]
  /** Whether a rule settles. */
  readonly settles: boolean
  /** Of what kinds the keys are, beside addresses. */
  readonly keyKinds: readonly KeyKind[]
  readonly ipv6Prefix: number
  readonly access: Access<Request> | undefined
  readonly profile: Profile
  readonly skip: Reader<Request, boolean> | undefined
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
  checkKnown('', options, OPTIONS)
  checkFunctions(options)
  const { allow, deny } = options
  const listed = allow !== undefined || deny !== undefined
  const reader = presentAddress(addressReader(options.trustProxy, adapter), adapter)
  // With one policy and no list it is asked for once anyway.
  const address = listed || options.policies !== undefined ? readOnce(reader, adapter) : reader
  const ipv6Prefix = checkInteger('ipv6Prefix', options.ipv6Prefix ?? 56, 32, 128)
  const rules = compileRules(options, address, ipv6Prefix, adapter)
  return {
    rules,
    settles: rules.some(({ settle }) => settle !== undefined),
    keyKinds: rules.map(({ keyKind }) => keyKind),
    ipv6Prefix,
    access: listed ? new Access(allow ?? [], deny ?? [], address) : undefined,
    profile: composeProfiles(profilesOf(options.headers)),
    skip: options.skip,
    retryAfterJitter: checkShare('retryAfterJitter', options.retryAfterJitter ?? 0.1),
    statusCode: checkOneOf('statusCode', options.statusCode ?? 429, [429, 503]),
    dryRun: checkBoolean('dryRun', options.dryRun ?? false),
    maxWaiting: checkInteger('maxWaiting', options.maxWaiting ?? 1000, 0, 1_000_000),
    partitionSecret: checkSecret(options.partitionSecret),
  }
}

function compileRules<Request, Response>(
  options: RateLimitOptions<Request, Response>,
  address: AddressReader<Request>,
  ipv6Prefix: number,
  adapter: RequestAdapter<Request, Response>,
): ChargeRule<Request, Response>[] {
  const policies = compilePolicies(options, [...POLICY_OPTIONS, 'key', 'cost', 'settle'])
  return policies.map((policy, i) => {
    const own: Partial<RequestPolicyOptions<Request, Response>> = options.policies?.[i] ?? {}
    const at = (option: 'key' | 'cost' | 'settle') =>
      own[option] === undefined ? option : `policies[${i}].${option}`
    const key = own.key ?? options.key ?? 'ip'
    const keyKind = typeof key === 'function' ? 'function' : checkOneOf(at('key'), key, BY)
    const cost = own.cost ?? options.cost ?? 1
    const limit = own.limit ?? options.limit
    const settle = own.settle ?? (own.cost === undefined ? options.settle : undefined)
    if (settle !== undefined) checkFunction(at('settle'), settle, '(request, response) => cost')
    return {
      policy,
      keyKind,
      key: keyReader(key, options.user, ipv6Prefix, address, adapter),
      limit: typeof limit === 'function' ? limit : undefined,
      cost: typeof cost === 'function' ? cost : checkStaticCost(cost, at('cost'), policy),
      settle,
    }
  })
}

/** A cost above the limit could never be paid; with a limit of 0 none is to be. */
function checkStaticCost(cost: unknown, option: string, { name, compiledLimit }: Policy): number {
  const checked = checkCost(cost, option)
  const most = compiledLimit?.units ?? Infinity
  if (checked <= most || most === 0) return checked
  throw new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option,
    expected: `at most ${most}, which is all that the policy '${name}' ever admits`,
    received: cost,
    fix: `Lower the cost, or raise the limit: a request with this cost could never be admitted.`,
  })
}

function checkFunctions<Request, Response>(options: RateLimitOptions<Request, Response>): void {
  const { user, skip, respond, onDecision } = options
  if (user !== undefined) checkFunction('user', user, '(request) => id')
  if (skip !== undefined) checkFunction('skip', skip, '(request) => boolean')
  if (onDecision !== undefined) checkFunction('onDecision', onDecision, '(decision, request)')
  if (respond !== undefined && respond !== 'throw') {
    checkFunction('respond', respond, "(decision, request, response), or 'throw'")
  }
}

function checkSecret(secret: unknown): string | undefined {
  if (secret === undefined) return undefined
  if (typeof secret === 'string' && secret.length >= 16) return secret
  throw new SluiceError({
    code: 'SLUICE_SECRET',
    option: 'partitionSecret',
    expected: 'text of at least 16 characters',
    received: typeof secret === 'string' ? `${secret.length} characters` : typeof secret,
    fix: 'Take it from a secret store or the environment, and use the same in every process.',
  })
}

function profilesOf(headers: unknown): readonly HeaderProfile[] {
  if (headers === undefined) return ['draft-11', 'draft-6']
  if (headers === false) return []
  return (Array.isArray(headers) ? headers : [headers]) as readonly HeaderProfile[]
}
