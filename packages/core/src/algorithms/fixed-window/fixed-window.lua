-- Fixed window: the Lua form of fixed-window.ts.
-- quota: 1 limit (units), 2 window (ms)
-- state: a = number of the window since the epoch, b = units charged in it
local floor, max, min = math.floor, math.max, math.min

local function enter(quota, now, a, b)
  local number = floor(now / quota[2])
  if a < number then b = 0 end
  return number, b, (number + 1) * quota[2] - now
end

return {
  decide = function(quota, now, cost, a, b)
    local limit = quota[1]
    local number, used, endsIn = enter(quota, now, a, b)
    local room = limit - used
    local admitted = cost <= room and room > 0
    local charged = admitted and used + cost or used
    local wait = endsIn
    if not admitted and max(cost, 1) > limit then wait = NEVER end
    return admitted, max(0, limit - charged), charged == 0 and 0 or endsIn, wait, 0,
      a > number, number, used, 0
  end,

  commit = function(_, _, cost, a, b)
    return a, b + cost, 0
  end,

  settle = function(quota, now, delta, chargedAt, a, b)
    local number, used, endsIn = enter(quota, now, a, b)
    if floor(min(chargedAt, now) / quota[2]) == number then
      used = min(MAX_EXACT, max(0, used + delta))
    end
    return max(0, quota[1] - used), used == 0 and 0 or endsIn, number, used, 0
  end,
}
