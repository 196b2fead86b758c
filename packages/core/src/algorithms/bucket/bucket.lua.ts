import type { LuaStep } from '../lua-step.ts'
import { MAX_EXACT } from '../ticks.ts'

/** A bucket that drains at once is kept for a window, up to this long, ms. */
const KEPT_MS = 3_600_000

/**
 * Token bucket: the Lua form of bucket.ts.
 *
 * State: a = level in parts, b = when it stood there (ms since the epoch), c = parts per unit of cost.
 */
export const bucketLua: LuaStep = {
  // parts, parts per unit of cost, parts that drain per tick, ms, ticks per window
  constants: ['capacity', 'unit', 'rate', 'window', 'ticks'],
  enter: `
    if c ~= unit then
      if c > 0 then
        local rest = a % c
        local parts = rest * unit
        parts = parts > ${MAX_EXACT} and unit or math.ceil(parts / c)
        a = math.min(${MAX_EXACT}, (a - rest) / c * unit + parts)
      end
      c = unit
    end
    rebased = b > now
    local tick, from, start = now, b, now
    if ticks then
      tick, from = tickAt(now, window, ticks), tickFrom(b, window, ticks)
      start = tickStart(tick, window, ticks)
    end
    if from < tick then
      a = a - (tick - from) * rate
      if a < 0 then a = 0 end
    end
    if b < start or rebased then b = start end`,
  decide: `
    admitted = (cost > 0 and cost or 1) * unit <= capacity - a`,
  commit: `
    a = a + cost * unit`,
  // What has drained since the charge is no longer there to give back.
  settle: `
    local change = delta * unit
    if delta < 0 then
      local from, tick = chargedAt, now
      if ticks then from, tick = tickAt(chargedAt, window, ticks), tickAt(now, window, ticks) end
      change = math.min(0, change + math.max(0, tick - from) * rate)
    end
    a = math.min(${MAX_EXACT}, math.max(0, a + change))`,
  full: `
    fullIn = math.ceil(a / rate)
    if ticks and fullIn > 0 then
      fullIn = tickStart(tickAt(now, window, ticks) + fullIn, window, ticks) - now
    end`,
  // As long again, since most requests fill it further, and at least for a window: so few requests
  // must renew the life of the key, or create it again.
  keep: `
    keepFor = 2 * fullIn
    local least = window < ${KEPT_MS} and window or ${KEPT_MS}
    if keepFor < least then keepFor = least end`,
}

/** Leaky bucket: the same, where the charges behind one keep their turns when it is given back. */
export const queueLua: LuaStep = {
  ...bucketLua,
  queues: true,
  settle: `
    local change = delta * unit
    if delta < 0 then
      local from, tick = chargedAt, now
      if ticks then from, tick = tickAt(chargedAt, window, ticks), tickAt(now, window, ticks) end
      local level = a + math.max(0, tick - from) * rate
      local isLast = level + change <= 0
      if remaining >= 0 then isLast = math.floor((capacity - level) / unit) == remaining end
      if not isLast then change = 0 end
    end
    a = math.min(${MAX_EXACT}, math.max(0, a + change))`,
}
