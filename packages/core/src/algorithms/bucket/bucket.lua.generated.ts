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
  own: `
    do
      local limit = 1000000000000 < ownLimit and 1000000000000 or ownLimit
      local burst = ownBurst < 0 and limit or ownBurst
      local most = limit == 0 and 0 or burst
      do
        local windowMs = window
        local queuedUnits = math.ceil(0 / windowMs * limit)
        local held = math.max(most + queuedUnits, 1)
        local drained = limit > 1 and limit or 1
        local divisor = greatestCommonDivisor(drained, windowMs)
        local isFine = held * (windowMs / divisor) <= 9007199254740991
        ticks = isFine and 0 or held * windowMs > 9007199254740991 and math.min(math.floor(9007199254740991 / held), math.floor(9007199254740991 / windowMs)) or 0
        local length = isFine and windowMs or ticks
        local reduced = isFine and divisor or greatestCommonDivisor(drained, length)
        unit = length / reduced
        rate = drained / reduced
        local waitTicks = isFine and 0 or tickAt(0, windowMs, length)
        capacity = limit == 0 and 0 or most * unit + waitTicks * rate
      end
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
  own: `
    do
      local limit = 1000000000000 < ownLimit and 1000000000000 or ownLimit
      local waitMs = ownDelay < 0 and 1000 or ownDelay
      do
        local windowMs = window
        local queuedUnits = math.ceil(waitMs / windowMs * limit)
        local held = math.max(1 + queuedUnits, 1)
        local drained = limit > 1 and limit or 1
        local divisor = greatestCommonDivisor(drained, windowMs)
        local isFine = held * (windowMs / divisor) <= 9007199254740991
        ticks = isFine and 0 or held * windowMs > 9007199254740991 and math.min(math.floor(9007199254740991 / held), math.floor(9007199254740991 / windowMs)) or 0
        local length = isFine and windowMs or ticks
        local reduced = isFine and divisor or greatestCommonDivisor(drained, length)
        unit = length / reduced
        rate = drained / reduced
        local waitTicks = isFine and waitMs or tickAt(waitMs, windowMs, length)
        capacity = limit == 0 and 0 or 1 * unit + waitTicks * rate
      end
    end`,
} as const satisfies Partial<LuaStep>
