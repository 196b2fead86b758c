// Generated from ticks.ts by "npm run generate". Do not edit.

/** Names that the script declares: where no limit needs ticks, `ticksLua` is left out. */
export const TICKS_LUA = 'local tickAt, tickStart, tickFrom, greatestCommonDivisor'

export const ticksLua = `
tickAt = function(ms, windowMs, ticks)
  local windows = (ms - ms % windowMs) / windowMs
  return windows * ticks + math.floor((ms - windows * windowMs) * ticks / windowMs)
end
tickStart = function(tick, windowMs, ticks)
  local windows = (tick - tick % ticks) / ticks
  return windows * windowMs + math.ceil((tick - windows * ticks) * windowMs / ticks)
end
tickFrom = function(ms, windowMs, ticks)
  local tick = tickAt(ms, windowMs, ticks)
  return tickStart(tick, windowMs, ticks) < ms and tick + 1 or tick
end
greatestCommonDivisor = function(a, b)
  return b == 0 and a or greatestCommonDivisor(b, a % b)
end`
