// Generated from bucket.ts by "npm run generate". Do not edit.

import type { LuaStep } from '../lua-step.ts'

export const bucketLua = {
  constants: ['capacity', 'unit', 'rate', 'window', 'ticks'],
  enter: `
    do
      if c ~= unit then
        if c > 0 then
          local rest = a % c
          local parts = rest * unit > 9007199254740991 and unit or math.ceil(rest * unit / c)
          a = math.min(9007199254740991, (a - rest) / c * unit + parts)
        end
        c = unit
      end
      rebased = b > now
      local drained = now - b
      local start = now
      if ticks > 0 then
        local tick = tickAt(now, window, ticks)
        drained = tick - tickFrom(b, window, ticks)
        start = tickStart(tick, window, ticks)
      end
      if drained > 0 then
        a = a - drained * rate
        if a < 0 then
          a = 0
        end
      end
      if b < start or rebased then
        b = start
      end
    end`,
  decide: `
    do
      local free = capacity - a
      local room = (free - free % unit) / unit
      admitted = cost <= room and room > 0
    end`,
  commit: `
    a = a + cost * unit`,
  settle: `
    do
      local change = delta * unit
      if delta < 0 then
        local drained = math.max(0, ticks == 0 and now - chargedAt or tickAt(now, window, ticks) - tickAt(chargedAt, window, ticks))
        change = math.min(0, change + drained * rate)
      end
      a = math.min(9007199254740991, math.max(0, a + change))
    end`,
  full: `
    do
      local drained = math.ceil(a / rate)
      fullIn = (ticks == 0 or drained == 0) and drained or tickStart(tickAt(now, window, ticks) + drained, window, ticks) - now
    end`,
  keep: `
    do
      local twice = 2 * fullIn
      local least = window < 3600000 and window or 3600000
      keepFor = twice > least and twice or least
    end`,
} as const satisfies Partial<LuaStep>

export const queueLua = {
  constants: ['capacity', 'unit', 'rate', 'window', 'ticks'],
  settle: `
    do
      local change = delta * unit
      if delta < 0 then
        local drained = math.max(0, ticks == 0 and now - chargedAt or tickAt(now, window, ticks) - tickAt(chargedAt, window, ticks))
        local level = a + drained * rate
        local left = math.floor((capacity - level) / unit)
        if remaining < 0 then
          if level + change > 0 then
            change = 0
          end
        elseif left ~= remaining then
          change = 0
        end
      end
      a = math.min(9007199254740991, math.max(0, a + change))
    end`,
} as const satisfies Partial<LuaStep>
