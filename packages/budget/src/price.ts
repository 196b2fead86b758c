import { checkObject, warnOnce } from '@sluice/core/internal'
import type { PricedUsage, Settings, Usage } from './options.ts'

/** What makes a call dearer than its tokens, with the values that do not. */
const DEARER: { readonly [name: string]: RegExp } = {
  service_tier: /^(auto|default|standard|standard_only|flex|batch)$/,
  speed: /^standard$/,
  inference_geo: /^(global|not_available)$/,
  modalities: /^text$/,
  server_tools: /^$/,
}
const COUNTS = { input: 0, output: 0, cached: 0, cacheWrite: 0 }
/** Characters of a name that a warning has. */
const MAX_NAME = 64

/**
 * Returns the price of usage, an integer; undefined if it has no numbers, or no price.
 * @param asked the model that was asked for, whose price it has if its own has none
 */
export function priceOf({ money, price }: Settings, usage: Usage, asked = usage.model) {
  checkObject('usage', usage, '{ model, input, output }')
  const given = Object.entries(usage).filter(([, value]) => value !== undefined)
  const numbers = given.filter(([name, value]) => name in COUNTS || typeof value === 'number')
  const isUsage = numbers.every(([, count]) => typeof count === 'number' && count >= 0)
  const dearer = given.filter(([name, value]) => DEARER[name]?.test(`${value}`) === false)
  let unread = new Set<string | symbol>()
  for (const model of [usage.model, asked]) {
    unread = new Set(money.unit === 'tokens' ? [] : dearer.map(([name]) => name))
    const get = (target: PricedUsage, name: string | symbol) => {
      unread.delete(name)
      return target[name as string]
    }
    try {
      const full: PricedUsage = { ...COUNTS, ...Object.fromEntries(given), model }
      const cost = money.ofCost(price(new Proxy(full, { get })))
      const isPriced = typeof model === 'string' && isUsage && numbers.length > 0
      if (isPriced && unread.size === 0 && cost !== undefined) return cost
    } catch {
      // As if it had returned nothing.
    }
  }
  const name = JSON.stringify(String(usage.model || asked).slice(0, MAX_NAME))
  const why = unread.size === 0 ? '' : ` (price does not read ${[...unread].join()})`
  warnOnce(
    'SLUICE_PRICE',
    `${name} has no price, or its usage no numbers${why}. Such a call is refused, and what it has used costs its estimate. Add its price.`,
  )
  return undefined
}
