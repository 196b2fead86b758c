import type { LuaStep } from '../lua-step.ts'
import { MAX_EXACT } from '../ticks.ts'

/** A bucket that drains at once is kept for a window, up to this long, ms. */
const KEPT_MS = 3_600_000

/**
 * Token bucket and leaky bucket: the Lua form of bucket.ts.
 *
 * State: a = level in parts, b = the tick at which it stood there.
 */
export const bucketLua: LuaStep = {
  // parts, parts per unit of cost, parts that drain per tick, ms, ticks per window
  constants: ['capacity', 'unit', 'rate', 'window', 'ticks'],
  enter: `
    local tick = now
    if ticks then tick = tickAt(now, window, ticks) end
    if b < tick then
      a = a - (tick - b) * rate
      if a < 0 then a = 0 end
    else
      rebased = b > tick
    end
    b = tick`,
  decide: `
    admitted = (cost > 0 and cost or 1) * unit <= capacity - a`,
  commit: `
    a = a + cost * unit`,
  // What has drained since the charge is no longer there to give back.
  settle: `
    local change = delta * unit
    if delta < 0 then
      local from = chargedAt
      if ticks then from = tickAt(chargedAt, window, ticks) end
      change = math.min(0, change + math.max(0, b - from) * rate)
    end
    a = math.min(${MAX_EXACT}, math.max(0, a + change))`,
  whole: `
    wholeIn = math.ceil(a / rate)
    if ticks and wholeIn > 0 then wholeIn = tickStart(b + wholeIn, window, ticks) - now end`,
  // As long again, since most requests fill it further, and at least for a window: so few requests
  // must renew the life of the key, or create it again.
  keep: `
    keepFor = 2 * wholeIn
    local least = window < ${KEPT_MS} and window or ${KEPT_MS}
    if keepFor < least then keepFor = least end`,
}
