// Generated from calendar-window.ts by "npm run generate". Do not edit.

import type { LuaStep } from '../lua-step.ts'

export const calendarWindowLua = {
  constants: ['units', 'edge1', 'edge2', 'edge3', 'edge4', 'edge5', 'edge6', 'edge7', 'keepEndedMs'],
  enter: `
    rebased = now < a
    if now >= c or rebased then
      local ended = rebased and 0 or c
      if not rebased then
        b = 0
      end
      local following = edge3
      if now >= edge5 then
        a = edge5
        c = edge6
        following = edge7
      elseif now >= edge4 then
        a = edge4
        c = edge5
        following = edge6
      elseif now >= edge3 then
        a = edge3
        c = edge4
        following = edge5
      elseif now >= edge2 then
        a = edge2
        c = edge3
        following = edge4
      else
        a = edge1
        c = edge2
      end
      if keepEndedMs > 0 and ended > (0 > a and 0 or a) then
        a = ended
        c = following
      end
    end`,
  settle: `
    do
      local at = chargedAt < now and chargedAt or now
      if at >= a then
        b = math.min(9007199254740991, math.max(0, b + delta))
      end
    end`,
  full: `
    if keepEndedMs > 0 then
      fullIn = c + keepEndedMs - now
    else
      fullIn = b > 0 and c - now or 0
    end`,
  grantEnd: `
    ends = c`,
} as const satisfies Partial<LuaStep>
