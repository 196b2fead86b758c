// Generated from sliding-window.ts by "npm run generate". Do not edit.

import type { LuaStep } from '../lua-step.ts'

export const slidingWindowLua = {
  constants: ['units', 'windowMs', 'ticks'],
  enter: `
    do
      local number = (now - now % windowMs) / windowMs
      rebased = a > number
      if a ~= number then
        if rebased then
          b = math.min(9007199254740991, b + c)
        elseif a == number - 1 then
          b = c
        else
          b = 0
        end
        c = 0
        a = number
      end
    end`,
  decide: `
    do
      local room
      if b == 0 then
        room = units - c
      else
        local inside = (a + 1) * windowMs - 1 - now
        local length = windowMs
        if ticks > 0 then
          inside = tickAt(inside, windowMs, ticks)
          length = ticks
        end
        local previous = b
        if previous > units then
          previous = math.min(previous, math.floor(9007199254740991 / length))
        end
        local counted = previous * inside / length
        room = units - c - (counted - counted % 1)
      end
      admitted = cost <= room and room > 0
    end`,
  commit: `
    c = c + cost`,
  settle: `
    do
      local number = (chargedAt - chargedAt % windowMs) / windowMs
      if number == a then
        c = math.min(9007199254740991, math.max(0, c + delta))
      elseif number == a - 1 or number > a then
        b = math.min(9007199254740991, math.max(0, b + delta))
      end
    end`,
  full: `
    if c > 0 then
      fullIn = (a + 2) * windowMs - now
    else
      fullIn = b > 0 and (a + 1) * windowMs - now or 0
    end`,
  own: `
    units = 1000000000000 < ownLimit and 1000000000000 or ownLimit
    ticks = units * windowMs > 9007199254740991 and math.min(math.floor(9007199254740991 / units), math.floor(9007199254740991 / windowMs)) or 0`,
  grantEnd: `
    ends = now + windowMs`,
} as const satisfies Partial<LuaStep>
