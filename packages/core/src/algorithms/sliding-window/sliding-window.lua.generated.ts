// Generated from sliding-window.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Sliding window: the Lua form of sliding-window.ts.
-- quota: 1 limit (units), 2 window (ms), 3 ticks per window, 4 the most that a count may hold
-- state: a = number of the window since the epoch, b = units charged in the window before it,
--        c = units charged in it
local ceil, floor, max, min = math.ceil, math.floor, math.max, math.min

-- The number of the window, what is charged in the one before it and in it, ms that it has lasted.
local function enter(quota, now, a, b, c)
  local window, most = quota[2], quota[4]
  local elapsed = now % window
  local number = (now - elapsed) / window
  if a ~= number then
    if a > number then b = b + c elseif a == number - 1 then b = c else b = 0 end
    c = 0
  end
  if b > most then b = most end
  if c > most then c = most end
  return number, b, c, elapsed
end

local function left(quota, b, c, elapsed)
  local room = quota[1] - c
  if b > 0 then
    local window, ticks = quota[2], quota[3]
    room = room - floor(b * tickAt(window - 1 - elapsed, window, ticks) / ticks)
  end
  return room > 0 and room or 0
end

-- ms into a window from which on no more than \`room\` units of the previous one count
local function fadedBy(quota, previous, room)
  if previous <= room then return 0 end
  local window, ticks = quota[2], quota[3]
  return window - tickStart(ceil((room + 1) * ticks / previous), window, ticks)
end

local function reset(quota, b, c, elapsed)
  if c > 0 then return quota[2] - elapsed + fadedBy(quota, c, 0) end
  return max(0, fadedBy(quota, b, 0) - elapsed)
end

local function waitFor(quota, b, c, elapsed, cost)
  if cost > quota[1] then return NEVER end
  local room = quota[1] - c - cost
  if room >= 0 and b > 0 then return fadedBy(quota, b, room) - elapsed end
  return quota[2] - elapsed + fadedBy(quota, c, quota[1] - cost)
end

return {
  decide = function(quota, now, cost, a, b, c)
    local number, elapsed
    number, b, c, elapsed = enter(quota, now, a, b, c)
    local remaining = left(quota, b, c, elapsed)
    local admitted = cost <= remaining and remaining > 0
    local wait, charged = nil, c
    if admitted then
      charged = c + cost
      remaining = remaining - cost
      wait = remaining > 0 and quota[2] - elapsed or waitFor(quota, b, charged, elapsed, 1)
    else
      wait = waitFor(quota, b, c, elapsed, max(cost, 1))
    end
    return admitted, remaining, reset(quota, b, charged, elapsed), wait, 0,
      a > number, number, b, c
  end,

  commit = function(_, _, cost, a, b, c)
    return a, b, c + cost
  end,

  settle = function(quota, now, delta, chargedAt, a, b, c)
    local number, elapsed
    number, b, c, elapsed = enter(quota, now, a, b, c)
    local charged = floor(chargedAt / quota[2])
    if charged == number then
      c = min(quota[4], max(0, c + delta))
    elseif charged == number - 1 or charged > number then
      b = min(quota[4], max(0, b + delta))
    end
    return left(quota, b, c, elapsed), reset(quota, b, c, elapsed), number, b, c
  end,
}
`
