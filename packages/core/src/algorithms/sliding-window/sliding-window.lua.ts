import { MAX_LIMIT } from '../algorithm.ts'
import type { LuaStep } from '../lua-step.ts'
import { MAX_EXACT } from '../ticks.ts'

/** The most of a count whose product with the ticks is exact. At least the limit: more refuses all as well. */
const MOST = `math.floor(${MAX_EXACT} / (ticks or window))`

/**
 * The Lua form of sliding-window.ts.
 *
 * State: a = number of the window since the epoch, b = units charged in the window before it,
 * c = units charged in it.
 */
export const slidingWindowLua: LuaStep = {
  // units, ms, ticks per window
  constants: ['limit', 'window', 'ticks'],
  enter: `
    local number = (now - now % window) / window
    if a ~= number then
      rebased = a > number
      if rebased then b = math.min(${MAX_EXACT}, b + c) elseif a == number - 1 then b = c else b = 0 end
      a, c = number, 0
    end`,
  decide: `
    local room = limit - c
    if b > 0 then
      local inside = (a + 1) * window - 1 - now
      if ticks then inside = tickAt(inside, window, ticks) end
      local counted = b
      if b > limit then counted = math.min(b, ${MOST}) end
      room = room - math.floor(counted * inside / (ticks or window))
    end
    admitted = cost <= room and room > 0`,
  commit: `
    c = c + cost`,
  settle: `
    local charged = math.floor(chargedAt / window)
    if charged == a then
      c = math.min(${MAX_EXACT}, math.max(0, c + delta))
    elseif charged == a - 1 or charged > a then
      b = math.min(${MAX_EXACT}, math.max(0, b + delta))
    end`,
  // A count that has faded to nothing still counts if more is charged to its window.
  full: `
    fullIn = c > 0 and (a + 2) * window - now or b > 0 and (a + 1) * window - now or 0`,
  more: `
    limit = math.min(${MAX_LIMIT}, limit + granted)
    ticks = limit * window > ${MAX_EXACT} and math.min(math.floor(${MAX_EXACT} / limit), math.floor(${MAX_EXACT} / window)) or nil`,
  grantEnd: `
    ends = now + window`,
}
