/** The Lua form of ticks.ts, for the steps that count in ticks coarser than a millisecond. */
export const ticksLua = `
local function tickAt(ms, window, ticks)
  local windows = math.floor(ms / window)
  return windows * ticks + math.floor((ms - windows * window) * ticks / window)
end

local function tickStart(tick, window, ticks)
  local windows = math.floor(tick / ticks)
  return windows * window + math.ceil((tick - windows * ticks) * window / ticks)
end
`
