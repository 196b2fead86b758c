// Generated from sliding-log.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Sliding log: the Lua form of sliding-log.ts, in the sections that stores/redis/compose.ts
-- documents.
-- state: a = entries dropped at the front, b = entries ever added, c = units in those not dropped;
--        behind them one entry of 16 bytes for each millisecond in which something was admitted:
--        time (ms), cost (units), oldest first
-- constants: limit (units), window (ms)
--# constants limit window

--# functions
local max, min = math.max, math.min
local ENTRY, CHUNK = 16, 64

-- Reads entries by number, a chunk at a time, since mostly a few side by side are all that is
-- needed. What is written meanwhile it may not see.
local function reader(key)
  local from, chunk = 0, ''
  return function(index)
    local at = (index - from) * ENTRY
    if at < 0 or at >= #chunk then
      from = index - index % CHUNK
      at = (index - from) * ENTRY
      local first = STATE + from * ENTRY
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

-- Moves entries from after \`now\`, where the clock has stepped back, to \`now\`.
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

-- Number of the last entry at or before \`time\`, a - 1 if there is none.
local function lastUntil(entry, time, a, b)
  local low, high = a, b
  while low < high do
    local middle = math.floor((low + high) / 2)
    if entry(middle) <= time then low = middle + 1 else high = middle end
  end
  return low - 1
end

-- Takes out the entries from number \`first\` to \`last\`.
local function remove(key, first, last, a, b)
  if first > last then return a, b end
  if first == a then return last + 1, b end
  local behind = STATE + (last + 1) * ENTRY
  local later = redis.call('GETRANGE', key, behind, STATE + b * ENTRY - 1)
  if last + 1 < b then redis.call('SETRANGE', key, STATE + first * ENTRY, later) end
  return a, b - (last - first + 1)
end

-- Takes \`units\` from the entries up to number \`last\`, latest first, as far as they hold them.
local function takeBack(key, last, units, a, b, c)
  local entry, index = reader(key), last
  while index >= a and units > 0 do
    local time, cost = entry(index)
    if cost > units then
      write(key, index, time, cost - units)
      c = c - units
      break
    end
    units, c, index = units - cost, c - cost, index - 1
  end
  a, b = remove(key, index + 1, last, a, b)
  return a, b, c
end

-- Adds \`units\` at the time \`at\`, behind entry number \`index\`; later entries move up by one.
local function insert(key, index, at, units, a, b)
  if index >= a then
    local time, cost = reader(key)(index)
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

-- ms until the oldest entries that hold \`units\` have left, counting \`added\` units of now
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

--# decide
local entry = reader(key)
rebased = a < b and entry(b - 1) > now
a, c = trim(entry, now - window, a, b, c)
local room = limit - c
admitted = cost <= room and room > 0
remaining = max(0, room)
if admitted then
  remaining = room - cost
  wait = waitFor(entry, window, now, a, b, remaining > 0 and 0 or 1, cost)
else
  local units = max(cost, 1)
  wait = units > limit and NEVER or waitFor(entry, window, now, a, b, units - room, 0)
end
resetIn = admitted and cost > 0 and window or reset(entry, window, now, a, b, c)

--# commit
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
  c = c + cost
end
wholeIn = window

--# settle
local entry = reader(key)
clamp(key, entry, now, a, b)
entry = reader(key)
a, c = trim(entry, now - window, a, b, c)
local at = min(chargedAt, now)
if at > now - window then
  local last = lastUntil(entry, at, a, b)
  if delta < 0 then
    a, b, c = takeBack(key, last, -delta, a, b, c)
  elseif delta > 0 then
    b, c = insert(key, last, at, delta, a, b), c + delta
  end
end
wholeIn = reset(reader(key), window, now, a, b, c)

--# keep
keepFor = 2 * window
`
