import type { LuaStep } from '../lua-step.ts'
import { MAX_EXACT } from '../ticks.ts'

/**
 * The Lua form of fixed-window.ts.
 *
 * State: a = number of the window since the epoch, b = units charged in it.
 */
export const fixedWindowLua: LuaStep = {
  // units, ms
  constants: ['limit', 'window'],
  enter: `
    local number = (now - now % window) / window
    if a ~= number then
      rebased = a > number
      if not rebased then b = 0 end
      a = number
    end`,
  decide: `
    admitted = cost <= limit - b and b < limit`,
  commit: `
    b = b + cost`,
  settle: `
    if math.floor(math.min(chargedAt, now) / window) == a then
      b = math.min(${MAX_EXACT}, math.max(0, b + delta))
    end`,
  full: `
    fullIn = b > 0 and (a + 1) * window - now or 0`,
  more: `
    limit = math.min(${MAX_EXACT}, limit + granted)`,
  grantEnd: `
    ends = (a + 1) * window`,
}
