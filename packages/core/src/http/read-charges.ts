import { checkCost } from '../limiter/arguments.ts'
import { nextSlot } from '../limiter/slot-number.ts'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Charge } from '../stores/store.ts'
import type { ChargeRule } from './compile-options.ts'

/**
 * Reads what a request will be charged, one charge per policy.
 *
 * @param firstKey the key of the first policy, if it has been read
 */
export function readCharges<Request, Response>(
  rules: readonly ChargeRule<Request, Response>[],
  request: Request,
  firstKey?: MaybePromise<string>,
): MaybePromise<Charge[]> {
  // The usual case: an array literal takes less memory than one that grows.
  if (rules.length === 1) {
    const only = readCharge(rules[0] as ChargeRule<Request, Response>, request, firstKey)
    return only instanceof Promise ? only.then((charge) => [charge]) : [only]
  }
  const charges: MaybePromise<Charge>[] = []
  let pending = false
  try {
    for (let i = 0; i < rules.length; i += 1) {
      const key = i === 0 ? firstKey : undefined
      const charge = readCharge(rules[i] as ChargeRule<Request, Response>, request, key)
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
  request: Request,
  known: MaybePromise<string> | undefined,
): MaybePromise<Charge> {
  const key = known ?? rule.key(request)
  return typeof key === 'string'
    ? readUnits(rule, request, key)
    : key.then((read) => readUnits(rule, request, read))
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

/** Nothing awaits these any more: if one of them fails too, it must not end the process. */
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
