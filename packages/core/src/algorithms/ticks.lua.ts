/** The names of what `ticksLua` sets: where no limit needs ticks, they are declared alone. */
export const TICKS_LUA = 'local tickAt, tickStart, tickFrom'

/** The Lua form of ticks.ts, for the steps that count in ticks coarser than a millisecond. */
export const ticksLua = `
tickAt = function(ms, window, ticks)
  local windows = math.floor(ms / window)
  return windows * ticks + math.floor((ms - windows * window) * ticks / window)
end

tickStart = function(tick, window, ticks)
  local windows = math.floor(tick / ticks)
  return windows * window + math.ceil((tick - windows * ticks) * window / ticks)
end

tickFrom = function(ms, window, ticks)
  local tick = tickAt(ms, window, ticks)
  if tickStart(tick, window, ticks) < ms then return tick + 1 end
  return tick
end
`
