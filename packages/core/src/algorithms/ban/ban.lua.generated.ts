// Generated from ban.ts by "npm run generate". Do not edit.

import type { LuaStep } from '../lua-step.ts'

export const banLua = {
  constants: ['units', 'windowMs', 'bansMs1', 'bansMs2', 'bansMs3', 'bansMs4', 'bansMs5', 'bansMs6', 'bansMs7', 'bansMs8', 'bansMs9', 'bansMs10'],
  enter: `
    do
      local isBan = a > 0 and a % 128 == 0
      local last = isBan and b or c
      rebased = now < last
      if rebased then
        c = isBan and now + c - b or now
        b = b < now and b or now
      end
      if now - c >= windowMs then
        a = 0
        b = 0
        c = 0
      end
    end`,
  decide: `
    do
      local room = a > 0 and a % 128 == 0 and now < c and 0 or 1
      admitted = cost <= room and room > 0
    end`,
  commit: `
    if cost > 0 then
      local count = a % 128
      local bans = (a - count) / 128
      if count == 0 or now - b >= windowMs then
        count = 0
        b = now
      end
      count = count + 1
      c = now
      if count >= units then
        count = 0
        bans = math.min(bans + 1, 10)
        b = now
        c = now + ({ bansMs1, bansMs2, bansMs3, bansMs4, bansMs5, bansMs6, bansMs7, bansMs8, bansMs9, bansMs10 })[bans]
      end
      a = bans * 128 + count
    end`,
  full: `
    fullIn = a == 0 and 0 or c + windowMs - now`,
} as const satisfies Partial<LuaStep>
