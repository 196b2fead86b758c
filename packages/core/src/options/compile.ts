import type { HeaderProfile } from '../http/profiles/index.ts'
import { composeProfiles, type Profile } from '../http/profiles/index.ts'
import { type KeyReader, keyReader } from '../key/key.ts'
import { checkCost } from '../limiter.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { compilePolicies, POLICY_OPTIONS, type Policy } from '../policy.ts'
import type { Framework } from '../request.ts'
import {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkKnown,
  checkObject,
  checkOneOf,
  checkShare,
} from './checks.ts'
import type { RateLimitOptions, RequestPolicyOptions } from './rate-limit-options.ts'

const OPTIONS = [
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
  'store',
  'prefix',
  'skip',
  'headers',
  'retryAfterJitter',
  'statusCode',
  'respond',
  'dryRun',
  'onDecision',
] as const

type Reader<Request, T> = (request: Request) => MaybePromise<T>

/** How one policy's charge is read from a request. */
export interface ChargeRule<Request> {
  readonly policy: Policy
  readonly key: KeyReader<Request>
  /** Undefined if the limit is the policy's own. */
  readonly limit: Reader<Request, unknown> | undefined
  /** Units, or a function of the request that gives them. */
  readonly cost: number | Reader<Request, unknown>
}

/** The options, checked and with their defaults. */
export interface Plan<Request> {
  readonly rules: readonly ChargeRule<Request>[]
  readonly profile: Profile
  readonly skip: Reader<Request, boolean> | undefined
  readonly retryAfterJitter: number
  readonly statusCode: 429 | 503
  readonly dryRun: boolean
}

/** @throws SluiceError */
export function compilePlan<Request, Response>(
  options: RateLimitOptions<Request, Response>,
  framework: Framework<Request>,
): Plan<Request> {
  checkObject('options', options, 'the options of a rate limit')
  checkKnown('', options, OPTIONS)
  const { user, skip, respond, onDecision } = options
  if (user !== undefined) checkFunction('user', user, '(request) => id')
  if (skip !== undefined) checkFunction('skip', skip, '(request) => boolean')
  if (respond !== undefined) checkFunction('respond', respond, '(decision, request, response)')
  if (onDecision !== undefined) checkFunction('onDecision', onDecision, '(decision, request)')
  return {
    rules: compileRules(options, framework),
    profile: composeProfiles(profilesOf(options.headers)),
    skip,
    retryAfterJitter: checkShare('retryAfterJitter', options.retryAfterJitter ?? 0.1),
    statusCode: checkOneOf('statusCode', options.statusCode ?? 429, [429, 503]),
    dryRun: checkBoolean('dryRun', options.dryRun ?? false),
  }
}

function compileRules<Request, Response>(
  options: RateLimitOptions<Request, Response>,
  framework: Framework<Request>,
): ChargeRule<Request>[] {
  const policies = compilePolicies(options, [...POLICY_OPTIONS, 'key', 'cost'])
  const ipv6Prefix = checkInteger('ipv6Prefix', options.ipv6Prefix ?? 56, 32, 128)
  return policies.map((policy, i) => {
    const own: Partial<RequestPolicyOptions<Request>> = options.policies?.[i] ?? {}
    const at = (option: 'key' | 'cost') =>
      own[option] === undefined ? option : `policies[${i}].${option}`
    const key = own.key ?? options.key ?? 'ip'
    if (typeof key !== 'function') checkOneOf(at('key'), key, ['ip', 'user'])
    const cost = own.cost ?? options.cost ?? 1
    const limit = own.limit ?? options.limit
    return {
      policy,
      key: keyReader(key, options.user, ipv6Prefix, framework),
      limit: typeof limit === 'function' ? limit : undefined,
      cost: typeof cost === 'function' ? cost : checkCost(cost, at('cost')),
    }
  })
}

function profilesOf(headers: unknown): readonly HeaderProfile[] {
  if (headers === undefined) return ['draft-11', 'draft-6']
  if (headers === false) return []
  return (Array.isArray(headers) ? headers : [headers]) as readonly HeaderProfile[]
}
