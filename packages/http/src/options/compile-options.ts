import type { SluiceError } from '@sluice/core'
import {
  checkKnown,
  checkObject,
  compilePolicies,
  conflict,
  type KeyKind,
  OPTION_NAMES,
  OPTIONS,
  type Policy,
  parseDuration,
  readOptions,
} from '@sluice/core/internal'
import { composeProfiles, type HeaderProfile } from '../fields/profiles/index.ts'
import { readAccess } from '../keys/access-list.ts'
import { addressReader, type KeyOption, keyReader, type UserOption } from '../keys/key-reader.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import type { SettleOption } from '../settlement/settlement.ts'
import type { RateLimitOptions } from './options.generated.ts'

const DEFAULT_HOLD_MS = parseDuration('hold', OPTIONS.concurrency.hold.default)

/** The options, checked and with their defaults. */
export type CompiledOptions<Request, Response> = ReturnType<
  typeof compileOptions<Request, Response>
>

/** How one policy's charge is read from a request. */
export type ChargeRule<Request, Response> = ReturnType<
  typeof compileRules<Request, Response>
>[number]

/**
 * @param route the pattern of the only route whose requests are decided
 * @throws SluiceError for wrong options
 */
export function compileOptions<Request, Response>(
  options: RateLimitOptions<Request, Response>,
  adapter: RequestAdapter<Request, Response>,
  route?: string,
) {
  checkObject('options', options, 'the options of a rate limit')
  checkKnown('', options, OPTION_NAMES.http)
  const { headers, ...values } = readOptions(OPTIONS.http, '', options)
  const { allow, deny, skip } = options
  const policies = compilePolicies(options, OPTION_NAMES.httpPolicy)
  const rules = compileRules(policies, options, values.ipv6Prefix, adapter)
  checkWaiting(options, policies)
  const holds = policies.flatMap(({ holdMs }) => holdMs ?? [])
  const settles = rules.some(({ settle }) => settle)
  const access =
    (allow ?? deny) === undefined
      ? undefined
      : readAccess(allow ?? [], deny ?? [], values.ipv6Prefix)
  return {
    ...values,
    adapter,
    route,
    policies,
    rules,
    settles,
    isSharded: rules.some(({ shard }) => shard),
    /** Whether a rule takes a slot, to be given back at the end of the response. */
    holdsSlots: policies.some(({ holdsSlots }) => holdsSlots),
    /** Whether the charge of a rule is an estimate that ends with its process. */
    reserves: policies.some(({ reserves }) => reserves),
    /** Whether it is an estimate of a key that other keys of a request may share. */
    shares: policies.length > 1 && policies.some(({ reserves }) => reserves),
    /** Whether something is settled or released at the end of responses, so that they are watched. */
    followsUp: settles || holds.length > 0,
    /** The shortest `hold`, or its default where no policy has one, ms. */
    holdMs: holds.length > 0 ? Math.min(...holds) : DEFAULT_HOLD_MS,
    /** The kinds of its policies' keys, besides addresses. */
    keyKinds: rules.map(({ keyKind }) => keyKind),
    /** Whether a key, `allow` or `deny` needs the address of clients. */
    needsAddress: access?.hasRanges || rules.some(({ keyKind }) => keyKind !== 'function'),
    readAddress: addressReader(options.trustProxy, adapter),
    access,
    skip,
    /** Whether every request but a preflight is charged. */
    chargesAll: skip === undefined && access === undefined,
    priority: options.priority ?? 0,
    respond: options.respond,
    bans: options.ban !== undefined,
    /** Whether requests are refused while the store fails. One in this process alone does not fail. */
    failsClosed: options.onStoreError === 'deny' && options.store !== undefined,
    onDecision: options.onDecision,
    removesUpstream: values.upstreamHeaders === 'remove',
    profile: composeProfiles(headers === false ? [] : ([headers].flat() as HeaderProfile[])),
  }
}

/** Refuses options of requests that wait which would have no effect, or two waits of which the shorter one holds. */
function checkWaiting(
  { maxWait, priority }: { readonly maxWait?: unknown; readonly priority?: unknown },
  policies: readonly Policy[],
): void {
  if (maxWait === undefined && priority !== undefined)
    throw conflict(
      'priority',
      'maxWait, with priority',
      undefined,
      'Give maxWait, or remove priority.',
    )
  const queue = policies.find(({ algorithm }) => algorithm.options.maxDelay !== undefined)
  if (maxWait !== undefined && queue !== undefined)
    throw conflict(
      'maxWait',
      "no policy with algorithm: 'leaky-bucket', whose requests wait for maxDelay",
      maxWait,
      'Remove maxWait, and give the policy the maxDelay.',
    )
}

/** The pattern of a request's route, if it is known by now. */
export function routeOf<Request>(
  { adapter, route }: Pick<CompiledOptions<Request, never>, 'adapter' | 'route'>,
  request: Request,
): string | undefined {
  const found = adapter.route?.(request)
  return found === undefined ? route : String(found)
}

function compileRules<Request, Response>(
  policies: readonly Policy[],
  options: RateLimitOptions<Request, Response>,
  ipv6Prefix: number,
  adapter: RequestAdapter<Request, Response>,
) {
  const common = readOptions(OPTIONS.requestPolicy, '', options)
  return policies.map((policy, i) => {
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
    const key = values.key as KeyOption<Request>
    const settle = values.settle as SettleOption<Request, Response> | undefined
    const shard = values.shard as UserOption<Request> | undefined
    const { cost } = values
    const limit = (own as { limit?: unknown; concurrent?: unknown })[policy.limitOption]
    if (policy.reserves && (settle === undefined || cost === 0)) throw nothingReserved(policy, cost)
    if (policy.unit !== 'requests' && !policy.holdsSlots)
      checkCounted(policy, own.cost ?? options.cost ?? settle)
    return {
      /** Where its policy is: a document may put another one in its place. */
      policies,
      place: i,
      key: keyReader(key, options.user, ipv6Prefix, adapter),
      keyKind: (typeof key === 'function' ? 'function' : key) as KeyKind,
      /** Units; undefined if they differ by request. */
      cost:
        typeof cost === 'function'
          ? undefined
          : checkPayable(cost, own.cost === undefined ? '' : path, policy),
      /** The functions that read the limit, the anchor, the window and the cost; undefined where the policy has it. */
      varying: [limit, own.anchor, own.window, cost].map((option) =>
        typeof option === 'function'
          ? (option as (request: Request, key: string) => unknown)
          : undefined,
      ),
      settle,
      shard,
    }
  })
}

/** Refuses a unit other than requests without `cost`: every request would cost one of whatever is counted. */
function checkCounted({ name, unit }: Policy, counter: unknown): void {
  if (counter !== undefined) return
  throw conflict(
    'cost',
    `cost or settle with unit: '${unit}'`,
    undefined,
    `Say how many ${unit} a request costs: by default the policy '${name}' would count requests.`,
  )
}

/** A cost above the limit could never be paid; with a limit of 0 that is intended. */
function checkPayable(cost: number, path: string, { name, compiledLimit }: Policy): number {
  const most = compiledLimit?.units ?? Infinity
  if (cost <= most || most === 0) return cost
  throw conflict(
    path === '' ? 'cost' : `${path}.cost`,
    `at most ${most}, which is all that the policy '${name}' ever admits`,
    cost,
    `Lower the cost, or raise the limit: a request with this cost could never be admitted.`,
  )
}

/** Without `settle` nothing is an estimate, and one of 0 units reserves nothing. */
function nothingReserved(policy: Policy, cost: unknown): SluiceError {
  return conflict(
    policy.at('reserve'),
    'settle, and a cost above 0, with reserve',
    cost === 0 ? cost : undefined,
    'Give cost the estimate, and let settle return what the request has cost. Or remove reserve.',
  )
}
