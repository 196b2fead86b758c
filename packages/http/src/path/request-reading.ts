import type { Charge, MaybePromise } from '@sluice/core'
import {
  andThen,
  checkCost,
  isPromise,
  limitOfClient,
  type NetworkBlocks,
  nextSlot,
  numberOf,
  ownedBy,
  type Policy,
  parseAddress,
  shardedKey,
  thenNative,
  warnOnce,
} from '@sluice/core/internal'
import type { Listed } from '../keys/access-list.ts'
import { AddressedRequest, CLIENT_GONE, idFrom } from '../keys/key-reader.ts'
import type { ChargeRule, CompiledOptions } from '../options/compile-options.ts'
import type { RequestAdapter } from '../request-adapter.ts'

/** A request from a blocked network, and its charges if it were not. */
export interface FromBlocked {
  readonly charges: readonly Charge[]
  /** The time until the block ends, ms. */
  readonly blockedMs: number
}

/**
 * The charges of a request, or why no policy
 * decides it. `skip` and `preflight`: it is exempt.
 */
export type Reading = Charge[] | FromBlocked | Listed | 'skip' | 'preflight' | typeof CLIENT_GONE

/**
 * Reads a request; what the options do not use is not asked about. Synchronous unless a function of the
 * user's is not. Throws, or rejects, with what it throws.
 *
 * @param networks the networks that are blocked, whatever the keys of the policies are
 */
export function readRequest<Request, Response>(
  compiled: CompiledOptions<Request, Response>,
  request: Request,
  networks: NetworkBlocks,
): MaybePromise<Reading> {
  const { adapter, chargesAll, rules, readAddress } = compiled
  const { documents } = networks
  if (documents.dueAt !== Infinity && performance.now() >= documents.dueAt) documents.refresh()
  const from = new AddressedRequest(request, readAddress, adapter)
  try {
    const preflight = adapter.method(request) === 'OPTIONS' && isPreflight(adapter, request)
    const read =
      chargesAll && !preflight
        ? readCharges(rules, from)
        : readExemptions(compiled, from, preflight)
    const sharded = compiled.isSharded ? readShards(rules, read, request) : read
    const owned = compiled.shares ? thenNative(sharded, withOwners) : sharded
    const reading = networks.size === 0 ? owned : readNetwork(owned, from, networks)
    return reading instanceof Promise ? reading.catch(goneOnly) : reading
  } catch (error) {
    return goneOnly(error)
  }
}

/** Puts the keys of what policies would decide into their shards. */
function readShards<Request, Response>(
  rules: readonly ChargeRule<Request, Response>[],
  reading: MaybePromise<Reading>,
  request: Request,
): MaybePromise<Reading> {
  return thenNative<Reading, Reading>(reading, (read) => {
    if (!Array.isArray(read)) return read
    return thenNative(
      readAll(rules, ({ shard }) => shard?.(request)),
      (shards) => {
        for (const [i, given] of shards.entries()) {
          const charge = read[i] as Charge
          const shard = idFrom('shard', given, 'Such requests have no shard.')
          if (shard !== undefined) charge.key = shardedKey(shard, charge.key)
        }
        return read
      },
    )
  })
}

/**
 * Says of each estimate of a shared key which key of the request is below it: the first other one, as the client's
 * policy comes first.
 */
function withOwners(read: Reading): Reading {
  if (!Array.isArray(read)) return read
  for (const charge of read) {
    if (charge.claim === undefined || !charge.limit.algorithm.reserves) continue
    const below = read.find(({ key }) => key !== charge.key)
    if (below !== undefined) charge.claim = ownedBy(charge.claim, numberOf(below.key))
  }
  return read
}

/** Looks for the client's address in the blocked networks, where policies would decide. */
function readNetwork<Request>(
  reading: MaybePromise<Reading>,
  from: AddressedRequest<Request>,
  networks: NetworkBlocks,
): MaybePromise<Reading> {
  return thenNative<Reading, Reading>(reading, (read) => {
    const blockedMs = Array.isArray(read) ? networks.blockedMs(from.address) : 0
    return blockedMs > 0 ? { charges: read as Charge[], blockedMs } : read
  })
}

/**
 * Whether a request with the method OPTIONS is a CORS preflight (Fetch §3.2.2). It is neither limited nor
 * counted: if it were refused, the script could not see why.
 */
function isPreflight<Request>(adapter: RequestAdapter<Request, never>, request: Request): boolean {
  return (
    adapter.header(request, 'origin') !== undefined &&
    adapter.header(request, 'access-control-request-method') !== undefined
  )
}

function goneOnly(error: unknown): typeof CLIENT_GONE {
  if (error === CLIENT_GONE) return CLIENT_GONE
  throw error
}

function readExemptions<Request, Response>(
  compiled: CompiledOptions<Request, Response>,
  from: AddressedRequest<Request>,
  preflight: boolean,
): MaybePromise<Reading> {
  const { skip, access, rules } = compiled
  if (preflight && !access?.denies) return 'preflight'
  let key: MaybePromise<string> | undefined
  const readKey = () => {
    key ??= (rules[0] as ChargeRule<Request, Response>).key(from)
    // The caller may not await it: its failure must not end the process then.
    if (isPromise(key)) key.catch(() => {})
    return key
  }
  const skips =
    skip &&
    andThen(skip(from.request, readKey), (result: unknown) => {
      if (result === undefined) warnOfNothing(skip)
      return Boolean(result)
    })
  return thenNative<boolean | undefined, Reading>(skips, (skipped) => {
    if (skipped) return 'skip'
    return preflight ? readPreflight(compiled, from, key) : readListed(compiled, from, key)
  })
}

/** The functions that were looked at. */
const looked = new WeakSet<object>()

/** Undefined is no mistake in itself: `user?.isAdmin`. But a block without `return` gives nothing else. */
function warnOfNothing(skip: object): void {
  if (looked.has(skip)) return
  looked.add(skip)
  const text = String(skip)
  if (!text.endsWith('}') || /\breturn\b|\[native code\]/.test(text)) return
  warnOnce(
    'SLUICE_SKIP_NOTHING',
    'The function skip returns nothing, so no request is exempt. Return true for those that are: ' +
      "skip: (request) => request.path === '/health'.",
  )
}

/**
 * A preflight is not charged, and refused only where its client is denied. It has no credentials:
 * one whose key can't be read is exempt.
 */
async function readPreflight<Request, Response>(
  compiled: CompiledOptions<Request, Response>,
  from: AddressedRequest<Request>,
  key: MaybePromise<string> | undefined,
): Promise<Reading> {
  try {
    const reading = await readListed(compiled, from, key)
    return Array.isArray(reading) || reading.source === 'allow' ? 'preflight' : reading
  } catch (error) {
    if (error === CLIENT_GONE) throw error
    return 'preflight'
  }
}

function readListed<Request, Response>(
  { access, rules }: CompiledOptions<Request, Response>,
  from: AddressedRequest<Request>,
  key: MaybePromise<string> | undefined,
): MaybePromise<Charge[] | Listed> {
  const listed = access?.hasRanges ? access.ofAddress(from.address) : undefined
  // One that `allow` has by its address may be on `deny` by a key.
  if (listed && (listed.source === 'deny' || !access?.deniesKeys)) return listed
  return thenNative<Charge[], Charge[] | Listed>(readCharges(rules, from, key), (charges) => {
    if (access?.hasRanges && OWN_ADDRESS.test(charges[0]?.key as string))
      warnOfOtherAddress(charges, from.address)
    return access?.ofKeys(charges) ?? listed ?? charges
  })
}

/** A key that a function returned, if that looks like an address. */
const OWN_ADDRESS = /^key:[\da-f.:]*[.:][\da-f.:]+$/i

/** Warns where a list compares another address than the one that the key function has read, from a header. */
function warnOfOtherAddress([charge]: readonly Charge[], address: string | undefined): void {
  const own = parseAddress((charge as Charge).key.slice('key:'.length))
  if (own === undefined || String(own) === String(address && parseAddress(address))) return
  warnOnce(
    'SLUICE_LIST_ADDRESS',
    'The key function returns another address than that of the connection, which allow and deny compare: they do ' +
      "not hold for the client. Leave out key, and name your proxies: trustProxy: ['loopback', '10.0.0.0/8'].",
  )
}

/**
 * Reads the charges of a request, one per policy.
 *
 * @param firstKey the key of the first policy, if it has been read
 */
export function readCharges<Request, Response>(
  rules: readonly ChargeRule<Request, Response>[],
  from: AddressedRequest<Request>,
  firstKey?: MaybePromise<string>,
): MaybePromise<Charge[]> {
  // The usual case: an array literal takes less memory than one that grows.
  if (rules.length === 1) {
    const only = readCharge(rules[0] as ChargeRule<Request, Response>, from, firstKey)
    return only instanceof Promise ? only.then((charge) => [charge]) : [only]
  }
  return readAll(rules, (rule, i) => readCharge(rule, from, i === 0 ? firstKey : undefined))
}

function readCharge<Request, Response>(
  rule: ChargeRule<Request, Response>,
  from: AddressedRequest<Request>,
  known: MaybePromise<string> | undefined,
): MaybePromise<Charge> {
  const key = known ?? rule.key(from)
  if (typeof key !== 'string') return key.then((read) => readVarying(rule, from.request, read))
  const { policies, place, cost } = rule
  const policy = policies[place] as Policy
  const limit = policy.compiledLimit
  if (limit === undefined || cost === undefined || policy.enforced < 1)
    return readVarying(rule, from.request, key)
  // The usual case: neither differs by request, nor by client.
  return policy.holdMs === undefined
    ? { key, limit, cost }
    : { key, limit, cost, claim: [nextSlot()] }
}

/** Reads the charge of a policy whose limit or cost may differ by request or by client. */
function readVarying<Request, Response>(
  { policies, place, varying, cost: fixed }: ChargeRule<Request, Response>,
  request: Request,
  key: string,
): MaybePromise<Charge> {
  const values = readAll(varying, (read) => read?.(request, key))
  return thenNative(values, ([limit, anchor, window, cost]) => {
    const policy = policies[place] as Policy
    const charge: Charge = {
      key,
      limit: limitOfClient(policy, key, policy.limitFor(limit, anchor, window)),
      cost: fixed ?? checkCost(cost),
    }
    return policy.holdMs === undefined || charge.cost === 0
      ? charge
      : { ...charge, claim: [nextSlot()] }
  })
}

/** Calls `read` for each element. Of several failures the first is reported. */
function readAll<T, U>(
  elements: readonly T[],
  read: (element: T, i: number) => MaybePromise<U>,
): MaybePromise<U[]> {
  const values: MaybePromise<U>[] = []
  try {
    for (let i = 0; i < elements.length; i += 1) values.push(read(elements[i] as T, i))
  } catch (error) {
    // Nothing awaits the others: if one of them fails too, it must not end the process.
    for (const value of values) if (isPromise(value)) Promise.resolve(value).catch(() => {})
    throw error
  }
  return values.some(isPromise) ? Promise.all(values) : (values as U[])
}
