// Generated from bucket.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Token bucket and leaky bucket: the Lua form of bucket.ts.
-- quota: 1 capacity (parts), 2 parts per unit of cost, 3 parts that drain per tick,
--        4 window (ms), 5 ticks per window, 6 whether admitted requests wait their turn (1, 0)
-- state: a = level in parts, b = the tick at which it stood there
local ceil, floor, max, min = math.ceil, math.floor, math.max, math.min

local function drain(quota, now, a, b)
  local tick = tickAt(now, quota[4], quota[5])
  if b < tick then a = max(0, a - (tick - b) * quota[3]) end
  return tick, a
end

local function left(quota, level)
  return max(0, floor((quota[1] - level) / quota[2]))
end

-- ms from now until so many parts have drained
local function after(quota, tick, now, parts)
  local ticks = ceil(parts / quota[3])
  if quota[5] == quota[4] or ticks == 0 then return ticks end
  return tickStart(tick + ticks, quota[4], quota[5]) - now
end

return {
  decide = function(quota, now, cost, a, b)
    local capacity, unit = quota[1], quota[2]
    local tick, level = drain(quota, now, a, b)
    local needed = max(cost, 1) * unit
    local admitted = needed <= capacity - level
    local filled = admitted and level + cost * unit or level
    local remaining = left(quota, filled)
    local wait
    if not admitted then
      wait = needed > capacity and NEVER or after(quota, tick, now, level - capacity + needed)
    elseif remaining > 0 then
      wait = after(quota, tick, now, remaining * unit)
    else
      wait = after(quota, tick, now, filled + unit - capacity)
    end
    local delay = admitted and quota[6] == 1 and after(quota, tick, now, level) or 0
    return admitted, remaining, after(quota, tick, now, filled), wait, delay,
      b > tick, level, tick, 0
  end,

  commit = function(quota, _, cost, a, b)
    return a + cost * quota[2], b, 0
  end,

  settle = function(quota, now, delta, chargedAt, a, b)
    local tick, level = drain(quota, now, a, b)
    local change = delta * quota[2]
    if delta < 0 then
      -- What has drained since the charge is no longer there to give back.
      local drained = max(0, tick - tickAt(chargedAt, quota[4], quota[5])) * quota[3]
      change = min(0, change + drained)
    end
    level = min(MAX_EXACT, max(0, level + change))
    return left(quota, level), after(quota, tick, now, level), level, tick, 0
  end,
}
`
