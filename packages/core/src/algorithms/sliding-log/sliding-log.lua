-- Sliding log: the Lua form of sliding-log.ts.
-- quota: 1 limit (units), 2 window (ms)
-- state: a = entries dropped at the front, b = entries ever added, c = units in those not dropped;
--        behind them one entry of 16 bytes for each millisecond in which something was admitted:
--        time (ms), cost (units), oldest first
local max, min = math.max, math.min
local ENTRY, CHUNK = 16, 64

-- Reads entries by number, a chunk at a time, since mostly the oldest few are all that is needed.
local function reader(key)
  local from, chunk = 0, ''
  return function(index)
    local at = (index - from) * ENTRY
    if at < 0 or at >= #chunk then
      from, at = index, 0
      local first = STATE + index * ENTRY
      chunk = redis.call('GETRANGE', key, first, first + CHUNK * ENTRY - 1)
    end
    return struct.unpack('<dd', chunk, at + 1)
  end
end

-- Steps over the expired entries: number of the first live one, units in the live ones.
local function trim(entry, horizon, a, b, c)
  while a < b do
    local time, cost = entry(a)
    if time > horizon then break end
    a, c = a + 1, c - cost
  end
  return a, c
end

local function write(key, index, time, cost)
  redis.call('SETRANGE', key, STATE + index * ENTRY, struct.pack('<dd', time, cost))
end

-- Moves entries from after `now`, where the clock has stepped back, to `now`.
local function clamp(key, entry, now, a, b)
  for index = b - 1, a, -1 do
    local time, cost = entry(index)
    if time <= now then return end
    write(key, index, now, cost)
  end
end

-- Rewrites the log without its dropped entries once they are the larger part.
local function compact(key, a, b)
  if a < CHUNK or a * 2 < b then return a, b end
  local first = STATE + a * ENTRY
  local header = redis.call('GETRANGE', key, 0, STATE - 1)
  local live = redis.call('GETRANGE', key, first, first + (b - a) * ENTRY - 1)
  redis.call('SET', key, header .. live, 'KEEPTTL')
  return 0, b - a
end

-- ms until the oldest entries that hold `units` have left, counting `added` units of now
local function waitFor(entry, window, now, a, b, units, added)
  local freed = 0
  for index = a, b - 1 do
    local time, cost = entry(index)
    freed = freed + cost
    if freed > 0 and freed >= units then return min(time, now) + window - now end
  end
  return freed + added >= units and window or NEVER
end

local function reset(entry, window, now, a, b, c)
  if c == 0 or a == b then return 0 end
  return min((entry(b - 1)), now) + window - now
end

return {
  decide = function(quota, now, cost, a, b, c, key)
    local limit, window = quota[1], quota[2]
    local entry = reader(key)
    local ahead = a < b and entry(b - 1) > now
    a, c = trim(entry, now - window, a, b, c)
    local room = limit - c
    local admitted = cost <= room and room > 0
    local remaining, wait, whole = max(0, room), nil, window
    if admitted then
      remaining = room - cost
      wait = waitFor(entry, window, now, a, b, remaining > 0 and 0 or 1, cost)
    else
      wait = waitFor(entry, window, now, a, b, max(cost, 1) - room, 0)
    end
    if not admitted or cost == 0 then whole = reset(entry, window, now, a, b, c) end
    return admitted, remaining, whole, wait, 0, ahead, a, b, c
  end,

  -- Called once the state's head stands in the key: appends what was admitted.
  commit = function(_, now, cost, a, b, c, key)
    local entry = reader(key)
    clamp(key, entry, now, a, b)
    if cost > 0 then
      local time, last
      if a < b then time, last = entry(b - 1) end
      if time and min(time, now) == now then
        write(key, b - 1, now, last + cost)
      else
        a, b = compact(key, a, b)
        write(key, b, now, cost)
        b = b + 1
      end
    end
    return a, b, c + cost
  end,

  settle = function(quota, now, delta, chargedAt, a, b, c, key)
    local window = quota[2]
    local entry = reader(key)
    clamp(key, entry, now, a, b)
    entry = reader(key)
    a, c = trim(entry, now - window, a, b, c)
    local at = min(chargedAt, now)
    if at > now - window then
      local index = b - 1
      if delta < 0 then
        local units = -delta
        while index >= a and units > 0 do
          local time, cost = entry(index)
          if time <= at then
            local taken = min(units, cost)
            write(key, index, time, cost - taken)
            units, c = units - taken, c - taken
          end
          index = index - 1
        end
        entry = reader(key)
        while b > a do
          local _, cost = entry(b - 1)
          if cost > 0 then break end
          b = b - 1
        end
      elseif delta > 0 then
        -- Later entries move up by one to make place for an earlier time.
        while index >= a and entry(index) > at do index = index - 1 end
        local time, cost
        if index >= a then time, cost = entry(index) end
        if time == at then
          write(key, index, at, cost + delta)
        else
          local first = STATE + (index + 1) * ENTRY
          local later = redis.call('GETRANGE', key, first, STATE + b * ENTRY - 1)
          write(key, index + 1, at, delta)
          if #later > 0 then redis.call('SETRANGE', key, first + ENTRY, later) end
          b = b + 1
        end
        c = c + delta
      end
    end
    return max(0, quota[1] - c), reset(reader(key), window, now, a, b, c), a, b, c
  end,
}
