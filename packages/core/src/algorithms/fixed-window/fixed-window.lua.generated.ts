// Generated from fixed-window.ts by "npm run generate". Do not edit.

import type { LuaStep } from '../lua-step.ts'

export const fixedWindowLua = {
  constants: ['units', 'windowMs'],
  enter: `
    do
      local number = (now - now % windowMs) / windowMs
      rebased = a > number
      if a < number then
        b = 0
      end
      a = number
    end`,
  decide: `
    do
      local room = units - b
      admitted = cost <= room and room > 0
    end`,
  commit: `
    b = b + cost`,
  settle: `
    do
      local number = math.floor((chargedAt < now and chargedAt or now) / windowMs)
      if number == a then
        b = math.min(9007199254740991, math.max(0, b + delta))
      end
    end`,
  full: `
    fullIn = b > 0 and (a + 1) * windowMs - now or 0`,
  own: `
    units = 9007199254740991 < ownLimit and 9007199254740991 or ownLimit`,
  grantEnd: `
    ends = (a + 1) * windowMs`,
} as const satisfies Partial<LuaStep>
