import type { LuaStep } from '../lua-step.ts'
import { MAX_EXACT } from '../ticks.ts'

/**
 * The Lua form of calendar-window.ts. Its constants are the limit (units), the edges (ms) of six windows
 * (the present one, as the process sees it, two before it and three after it), and how long a window
 * that has ended is remembered (ms; 0: it is not).
 *
 * State: a = start of the window (ms), b = units charged in it, c = end of the window (ms).
 */
export const calendarWindowLua: LuaStep = {
  constants: ['limit', 'edge1', 'edge2', 'edge3', 'edge4', 'edge5', 'edge6', 'edge7', 'keepEnded'],
  constantsMove: true,
  check: `
    if now < edge1 or now >= edge6 then
      problem = 'ERR the clocks of this process and of the server are too far apart'
    end`,
  enter: `
    rebased = now < a
    if now >= c or rebased then
      local ended, following = rebased and 0 or c
      if not rebased then b = 0 end
      if now >= edge5 then a, c, following = edge5, edge6, edge7
      elseif now >= edge4 then a, c, following = edge4, edge5, edge6
      elseif now >= edge3 then a, c, following = edge3, edge4, edge5
      elseif now >= edge2 then a, c, following = edge2, edge3, edge4
      else a, c, following = edge1, edge2, edge3
      end
      if keepEnded > 0 and ended > math.max(0, a) then a, c = ended, following end
    end`,
  decide: `
    admitted = cost <= limit - b and b < limit`,
  commit: `
    b = b + cost`,
  settle: `
    if math.min(chargedAt, now) >= a then
      b = math.min(${MAX_EXACT}, math.max(0, b + delta))
    end`,
  full: `
    fullIn = keepEnded > 0 and c + keepEnded - now or b > 0 and c - now or 0`,
  more: `
    limit = math.min(${MAX_EXACT}, limit + granted)`,
  grantEnd: `
    ends = c`,
}
