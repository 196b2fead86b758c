import { checkCost } from '../limiter/arguments.ts'
import { nextSlot } from '../limiter/slot-number.ts'
import { isPromise, type MaybePromise, then, thenNative } from '../maybe-promise.ts'
import type { Charge } from '../stores/store.ts'
import type { ChargeRule, CompiledOptions } from './compile-options.ts'
import type { Listed } from './keys/access-list.ts'
import type { RequestAddress } from './keys/key-reader.ts'
import {
  type AddressReader,
  forwardedAddressReader,
  type TrustProxyOption,
  warnOfProxySetting,
} from './keys/trust-proxy.ts'
import { isPreflight, type RequestAdapter } from './request-adapter.ts'

/** Requests are looked at for an unsafe proxy setting: so many at first, then one of so many. */
const LOOKED_AT_FIRST = 1000
const LOOKED_AT_LATER = 64

/**
 * Thrown where an address is asked for that is no longer known, because the client has disconnected.
 * Such a request must not be charged to the quota that clients without an address share.
 */
export const CLIENT_GONE = Symbol('sluice.client-gone')

/**
 * What a limiter must know of a request to decide it: what each policy is charged, or why no policy
 * decides it. `skip` and `preflight`: it is exempt.
 */
export type Reading = Charge[] | Listed | 'skip' | 'preflight' | typeof CLIENT_GONE

/** Reads requests for one limiter. What its options do not use is not asked about. */
export class RequestReader<Request, Response> {
  private readonly compiled: CompiledOptions<Request, Response>
  private readonly adapter: RequestAdapter<Request, Response>
  private readonly readAddress: AddressReader<Request>
  /** Whether every request but a preflight is charged. */
  private readonly chargesAll: boolean

  /** @throws SluiceError if `trustProxy` does not name proxies */
  constructor(
    compiled: CompiledOptions<Request, Response>,
    adapter: RequestAdapter<Request, Response>,
    trustProxy: TrustProxyOption | undefined,
  ) {
    this.compiled = compiled
    this.adapter = adapter
    this.readAddress = addressReader(trustProxy, adapter)
    this.chargesAll = compiled.skip === undefined && compiled.access === undefined
  }

  /** Synchronous unless a function of the user's is not. Throws, or rejects, with what it throws. */
  read(request: Request): MaybePromise<Reading> {
    const { compiled, adapter } = this
    const from = new ReadOnce(request, this.readAddress, adapter)
    try {
      const mayBePreflight = adapter.method(request) === 'OPTIONS'
      const reading =
        this.chargesAll && !(mayBePreflight && isPreflight(adapter, request))
          ? readCharges(compiled.rules, from)
          : this.readExemptions(from)
      return reading instanceof Promise ? reading.catch(goneOnly) : reading
    } catch (error) {
      return goneOnly(error)
    }
  }

  private readExemptions(from: RequestAddress<Request>): MaybePromise<Reading> {
    const { skip, access, rules } = this.compiled
    const preflight = isPreflight(this.adapter, from.request)
    if (preflight && !access?.denies) return 'preflight'
    let key: MaybePromise<string> | undefined
    const readKey = () => {
      key ??= (rules[0] as ChargeRule<Request, Response>).key(from)
      // The caller may not await it: its failure must not end the process then.
      if (isPromise(key)) key.catch(() => {})
      return key
    }
    const skips = skip === undefined ? false : then(skip(from.request, readKey), Boolean)
    return thenNative<boolean, Reading>(skips, (skipped) => {
      if (skipped) return 'skip'
      return preflight ? this.readPreflight(from, key) : this.readListed(from, key)
    })
  }

  /**
   * A preflight is not charged, and refused only where its client is denied. It has no credentials:
   * one whose key can't be read is exempt.
   */
  private readPreflight(
    from: RequestAddress<Request>,
    key: MaybePromise<string> | undefined,
  ): MaybePromise<Reading> {
    const exempt = (error: unknown) => {
      if (error === CLIENT_GONE) throw error
      return 'preflight' as const
    }
    const uncharged = (reading: Charge[] | Listed) =>
      Array.isArray(reading) || reading.source === 'allow' ? ('preflight' as const) : reading
    try {
      const reading = this.readListed(from, key)
      return reading instanceof Promise ? reading.then(uncharged, exempt) : uncharged(reading)
    } catch (error) {
      return exempt(error)
    }
  }

  private readListed(
    from: RequestAddress<Request>,
    key: MaybePromise<string> | undefined,
  ): MaybePromise<Charge[] | Listed> {
    const { access, rules } = this.compiled
    const listed = access?.hasRanges ? access.ofAddress(from.address) : undefined
    if (listed !== undefined) return listed
    return thenNative<Charge[], Charge[] | Listed>(
      readCharges(rules, from, key),
      (charges) => access?.ofKeys(charges) ?? charges,
    )
  }
}

/**
 * How the client's address is read: by `trustProxy`, else by the framework's own setting. Of that it
 * warns when a request arrives that it affects, the first one or, later on, one of the next: Node
 * makes an object of all header fields when one is read.
 *
 * @throws SluiceError if `trustProxy` does not name proxies
 */
export function addressReader<Request>(
  trustProxy: TrustProxyOption | undefined,
  adapter: RequestAdapter<Request, never>,
): AddressReader<Request> {
  if (trustProxy !== undefined) return forwardedAddressReader(trustProxy, adapter)
  let requests = 0
  return (request) => {
    requests += 1
    const looks = requests <= LOOKED_AT_FIRST || requests % LOOKED_AT_LATER === 0
    if (looks) warnOfProxySetting(request, adapter)
    return adapter.address(request)
  }
}

/**
 * Reads the address once, however many policies and lists ask for it: a framework may walk through
 * thousands of entries of X-Forwarded-For each time.
 */
class ReadOnce<Request> implements RequestAddress<Request> {
  readonly request: Request
  private readonly read: AddressReader<Request>
  private readonly adapter: Pick<RequestAdapter<Request, never>, 'isGone'>
  private isKnown: boolean
  private known: string | undefined

  constructor(
    request: Request,
    read: AddressReader<Request>,
    adapter: Pick<RequestAdapter<Request, never>, 'isGone'>,
  ) {
    this.request = request
    this.read = read
    this.adapter = adapter
    this.isKnown = false
    this.known = undefined
  }

  /** @throws CLIENT_GONE */
  get address(): string | undefined {
    if (!this.isKnown) {
      const address = this.read(this.request)
      if (!address && this.adapter.isGone(this.request)) throw CLIENT_GONE
      this.known = address
      this.isKnown = true
    }
    return this.known
  }
}

function goneOnly(error: unknown): typeof CLIENT_GONE {
  if (error === CLIENT_GONE) return CLIENT_GONE
  throw error
}

/**
 * Reads what a request will be charged, one charge per policy.
 *
 * @param firstKey the key of the first policy, if it has been read
 */
export function readCharges<Request, Response>(
  rules: readonly ChargeRule<Request, Response>[],
  from: RequestAddress<Request>,
  firstKey?: MaybePromise<string>,
): MaybePromise<Charge[]> {
  // The usual case: an array literal takes less memory than one that grows.
  if (rules.length === 1) {
    const only = readCharge(rules[0] as ChargeRule<Request, Response>, from, firstKey)
    return only instanceof Promise ? only.then((charge) => [charge]) : [only]
  }
  const charges: MaybePromise<Charge>[] = []
  let pending = false
  try {
    for (let i = 0; i < rules.length; i += 1) {
      const key = i === 0 ? firstKey : undefined
      const charge = readCharge(rules[i] as ChargeRule<Request, Response>, from, key)
      if (isPromise(charge)) pending = true
      charges.push(charge)
    }
  } catch (error) {
    abandon(charges)
    throw error
  }
  return pending ? Promise.all(charges) : (charges as Charge[])
}

function readCharge<Request, Response>(
  rule: ChargeRule<Request, Response>,
  from: RequestAddress<Request>,
  known: MaybePromise<string> | undefined,
): MaybePromise<Charge> {
  const key = known ?? rule.key(from)
  if (typeof key !== 'string') return key.then((read) => readUnits(rule, from.request, read))
  const { policy, cost } = rule
  const limit = policy.compiledLimit
  if (limit === undefined || typeof cost !== 'number') return readUnits(rule, from.request, key)
  // The usual case: neither differs by request.
  return policy.holdsSlots ? { key, limit, cost, slot: nextSlot() } : { key, limit, cost }
}

function readUnits<Request, Response>(
  rule: ChargeRule<Request, Response>,
  request: Request,
  key: string,
): MaybePromise<Charge> {
  let limit: unknown
  let anchor: unknown
  let window: unknown
  let cost: unknown
  try {
    limit = rule.limit?.(request, key)
    anchor = rule.anchor?.(request, key)
    window = rule.window?.(request, key)
    cost = typeof rule.cost === 'number' ? rule.cost : rule.cost(request, key)
  } catch (error) {
    abandon([limit, anchor, window])
    throw error
  }
  if (!isPromise(cost) && !isPromise(limit) && !isPromise(anchor) && !isPromise(window)) {
    return toCharge(rule, key, cost, limit, anchor, window)
  }
  return Promise.all([cost, limit, anchor, window]).then((values) => toCharge(rule, key, ...values))
}

/**
 * Marks promises as handled that nothing awaits any more: if one of them fails too, it must not end the
 * process.
 */
function abandon(values: readonly unknown[]): void {
  for (const value of values) {
    if (isPromise(value)) Promise.resolve(value).catch(() => {})
  }
}

function toCharge<Request, Response>(
  { policy, cost: given }: ChargeRule<Request, Response>,
  key: string,
  cost: unknown,
  limit: unknown,
  anchor: unknown,
  window: unknown,
): Charge {
  const charge = {
    key,
    limit: policy.compiledLimit ?? policy.limitFor(limit, anchor, window),
    cost: cost === given ? (cost as number) : checkCost(cost),
  }
  return policy.holdsSlots ? { ...charge, slot: nextSlot() } : charge
}
