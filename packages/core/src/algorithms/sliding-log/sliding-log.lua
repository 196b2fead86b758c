-- Sliding log: the Lua form of sliding-log.ts, in the sections that stores/redis/compose.ts
-- documents.
-- state: a = entries dropped at the front, b = entries ever added, c = units in those not dropped;
--        behind them one entry of 16 bytes for each millisecond in which something was admitted:
--        time (ms), cost (units), oldest first
-- constants: limit (units), window (ms)
--# constants limit window

--# functions
local max, min = math.max, math.min
local ENTRY, CHUNK, MANY, ALL = 16, 256, 64, math.huge

local function bytesOf(key, index, count)
  local first = STATE + index * ENTRY
  return redis.call('GETRANGE', key, first, first + count * ENTRY - 1)
end

-- Time and cost of an entry.
local function read(key, index)
  return struct.unpack('<dd', bytesOf(key, index, 1))
end

local function write(key, index, time, cost)
  redis.call('SETRANGE', key, STATE + index * ENTRY, struct.pack('<dd', time, cost))
end

-- Passes over the entries from number `from`, before `to`, that are not later than `horizon`, until
-- they hold `units`. Returns the number behind them, what they hold and, if that is enough, the
-- time of the last one. It reads more at a time the further it comes, since mostly a few are all that
-- is needed, and counts four at a time, which takes two thirds of the time.
local function pass(key, from, to, horizon, units)
  local held, size = 0, 4
  while from < to do
    local count = min(size, to - from)
    local bytes, last = bytesOf(key, from, count), count * ENTRY
    local at, time, c1, c2, c3, c4, _ = 1
    while at + 4 * ENTRY <= last + 1 do
      _, c1, _, c2, _, c3, time, c4 = struct.unpack('<dddddddd', bytes, at)
      c4 = held + c1 + c2 + c3 + c4
      if time > horizon or c4 >= units then break end
      held, at = c4, at + 4 * ENTRY
    end
    from = from + (at - 1) / ENTRY
    while at < last do
      time, c1, at = struct.unpack('<dd', bytes, at)
      if time > horizon then return from, held end
      from, held = from + 1, held + c1
      if held >= units then return from, held, time end
    end
    size = min(4 * size, CHUNK)
  end
  return from, held
end

-- Steps over the expired entries: number of the first live one, units in the live ones.
local function trim(key, horizon, a, b, c)
  local first, gone = pass(key, a, b, horizon, ALL)
  return first, c - gone
end

-- Number of the last entry at or before `time`, a - 1 if there is none.
local function lastUntil(key, time, a, b)
  local low, high = a, b
  while low < high do
    local middle = math.floor((low + high) / 2)
    if read(key, middle) <= time then low = middle + 1 else high = middle end
  end
  return low - 1
end

-- Moves entries from after `now`, where the clock has stepped back, to `now`: into one entry, since
-- they leave together.
local function clamp(key, now, a, b, c)
  if a == b or read(key, b - 1) <= now then return b end
  local first = lastUntil(key, now, a, b) + 1
  local isLess = first - a < b - first
  local _, units = pass(key, isLess and a or first, isLess and first or b, ALL, ALL)
  write(key, first, now, isLess and c - units or units)
  return first + 1
end

-- Rewrites the log without its dropped entries once they are the larger part.
local function compact(key, a, b)
  if a < MANY or a * 2 < b then return a, b end
  local first = STATE + a * ENTRY
  local header = redis.call('GETRANGE', key, 0, STATE - 1)
  local live = redis.call('GETRANGE', key, first, first + (b - a) * ENTRY - 1)
  redis.call('SET', key, header .. live, 'KEEPTTL')
  return 0, b - a
end

-- Takes out the entries from number `first` to `last`.
local function remove(key, first, last, a, b)
  if first > last then return a, b end
  if first == a then return last + 1, b end
  local behind = STATE + (last + 1) * ENTRY
  local later = redis.call('GETRANGE', key, behind, STATE + b * ENTRY - 1)
  if last + 1 < b then redis.call('SETRANGE', key, STATE + first * ENTRY, later) end
  return a, b - (last - first + 1)
end

-- Takes `units` from the entries up to number `last`, latest first, as far as they hold them.
local function takeBack(key, last, units, a, b, c)
  local index, size = last, 4
  while index >= a and units > 0 do
    local count = min(size, index - a + 1)
    local bytes = bytesOf(key, index - count + 1, count)
    for at = (count - 1) * ENTRY + 1, 1, -ENTRY do
      local time, cost = struct.unpack('<dd', bytes, at)
      if cost > units then
        write(key, index, time, cost - units)
        units, c = 0, c - units
      end
      if units == 0 then break end
      units, c, index = units - cost, c - cost, index - 1
    end
    size = min(4 * size, CHUNK)
  end
  a, b = remove(key, index + 1, last, a, b)
  return a, b, c
end

-- Adds `units` at the time `at`, behind entry number `index`; later entries move up by one.
local function insert(key, index, at, units, a, b)
  if index >= a then
    local time, cost = read(key, index)
    if time == at then
      write(key, index, at, cost + units)
      return b
    end
  end
  local first = STATE + (index + 1) * ENTRY
  local later = redis.call('GETRANGE', key, first, STATE + b * ENTRY - 1)
  write(key, index + 1, at, units)
  if index + 1 < b then redis.call('SETRANGE', key, first + ENTRY, later) end
  return b + 1
end

-- ms until the oldest entries that hold `units` have left, counting `added` units of now
local function waitFor(key, window, now, a, b, units, added)
  local _, freed, time = pass(key, a, b, ALL, max(units, 1))
  if time then return min(time, now) + window - now end
  return freed + added >= units and window or NEVER
end

local function reset(window, now, c, last)
  return c == 0 and 0 or min(last, now) + window - now
end

--# decide
local last = a < b and read(key, b - 1) or 0
rebased = last > now
a, c = trim(key, now - window, a, b, c)
local room = limit - c
admitted = cost <= room and room > 0
remaining = max(0, room)
if admitted then
  remaining = room - cost
  wait = waitFor(key, window, now, a, b, remaining > 0 and 0 or 1, cost)
else
  local units = max(cost, 1)
  wait = units > limit and NEVER or waitFor(key, window, now, a, b, units - room, 0)
end
resetIn = admitted and cost > 0 and window or reset(window, now, c, last)

--# commit
b = clamp(key, now, a, b, c)
if cost > 0 then
  local time, last
  if a < b then time, last = read(key, b - 1) end
  if time == now then
    write(key, b - 1, now, last + cost)
  else
    a, b = compact(key, a, b)
    write(key, b, now, cost)
    b = b + 1
  end
  c = c + cost
end
wholeIn = window

--# settle
b = clamp(key, now, a, b, c)
a, c = trim(key, now - window, a, b, c)
local at = min(chargedAt, now)
if at > now - window then
  local last = lastUntil(key, at, a, b)
  if delta < 0 then
    a, b, c = takeBack(key, last, -delta, a, b, c)
  elseif delta > 0 then
    b, c = insert(key, last, at, delta, a, b), c + delta
  end
end
wholeIn = reset(window, now, c, a < b and read(key, b - 1) or 0)

--# keep
keepFor = 2 * window
