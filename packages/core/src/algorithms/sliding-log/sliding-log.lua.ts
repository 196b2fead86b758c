import { ENTRY_BYTES, type LuaStep, STATE_BYTES } from '../lua-step.ts'
import { MAX_LOG_LIMIT } from './log.ts'

/** Entries that are read at a time, at most. */
const CHUNK = 256
/** Entries that must have been dropped before the log is rewritten: fewer are not worth it. */
const MIN_DROPPED = 64

const FUNCTIONS = `
local head = ${STATE_BYTES}
local function logBytes(key, index, count)
  local first = head + index * ${ENTRY_BYTES}
  return redis.call('GETRANGE', key, first, first + count * ${ENTRY_BYTES} - 1)
end

-- Time and cost of an entry.
local function logRead(key, index)
  return struct.unpack('<dd', logBytes(key, index, 1))
end

local function logWrite(key, index, time, cost)
  redis.call('SETRANGE', key, head + index * ${ENTRY_BYTES}, struct.pack('<dd', time, cost))
end

-- Passes over the entries from number from, before to, that are not later than horizon, until
-- they hold units. Returns the number behind them, what they hold and, if that is enough, the
-- time of the last one. It reads more at a time the further it comes, since mostly a few are all that
-- is needed, and counts four at a time, which takes two thirds of the time.
local function logPass(key, from, to, horizon, units)
  local held, size = 0, 4
  while from < to do
    local count = math.min(size, to - from)
    local bytes, last = logBytes(key, from, count), count * ${ENTRY_BYTES}
    local at, time, c1, c2, c3, c4, _ = 1
    while at + ${4 * ENTRY_BYTES} <= last + 1 do
      _, c1, _, c2, _, c3, time, c4 = struct.unpack('<dddddddd', bytes, at)
      c4 = held + c1 + c2 + c3 + c4
      if time > horizon or c4 >= units then break end
      held, at = c4, at + ${4 * ENTRY_BYTES}
    end
    from = from + (at - 1) / ${ENTRY_BYTES}
    while at < last do
      time, c1, at = struct.unpack('<dd', bytes, at)
      if time > horizon then return from, held end
      from, held = from + 1, held + c1
      if held >= units then return from, held, time end
    end
    size = math.min(4 * size, ${CHUNK})
  end
  return from, held
end

-- Steps over the expired entries: number of the first live one, units in the live ones.
local function logTrim(key, horizon, a, b, c)
  local first, gone = logPass(key, a, b, horizon, math.huge)
  return first, c - gone
end

-- Number of the last entry at or before time, a - 1 if there is none.
local function logLastUntil(key, time, a, b)
  local low, high = a, b
  while low < high do
    local middle = math.floor((low + high) / 2)
    if logRead(key, middle) <= time then low = middle + 1 else high = middle end
  end
  return low - 1
end

-- Moves entries from after now, where the clock has stepped back, to now: into one entry, since
-- they leave together.
local function logClamp(key, now, a, b, c)
  if a == b or logRead(key, b - 1) <= now then return b end
  local first = logLastUntil(key, now, a, b) + 1
  local isLess = first - a < b - first
  local _, units = logPass(key, isLess and a or first, isLess and first or b, math.huge, math.huge)
  logWrite(key, first, now, isLess and c - units or units)
  return first + 1
end

-- Rewrites the log without its dropped entries once they are the larger part.
local function logCompact(key, a, b)
  if a < ${MIN_DROPPED} or a * 2 < b then return a, b end
  local first = head + a * ${ENTRY_BYTES}
  local header = redis.call('GETRANGE', key, 0, head - 1)
  local live = redis.call('GETRANGE', key, first, first + (b - a) * ${ENTRY_BYTES} - 1)
  redis.call('SET', key, header .. live, 'KEEPTTL')
  return 0, b - a
end

-- Takes out the entries from number first to last.
local function logRemove(key, first, last, a, b)
  if first > last then return a, b end
  if first == a then return last + 1, b end
  local behind = head + (last + 1) * ${ENTRY_BYTES}
  local later = redis.call('GETRANGE', key, behind, head + b * ${ENTRY_BYTES} - 1)
  if last + 1 < b then redis.call('SETRANGE', key, head + first * ${ENTRY_BYTES}, later) end
  return a, b - (last - first + 1)
end

-- Takes units from the entries up to number last, latest first, as far as they hold them.
local function logTakeBack(key, last, units, a, b, c)
  local index, size = last, 4
  while index >= a and units > 0 do
    local count = math.min(size, index - a + 1)
    local bytes = logBytes(key, index - count + 1, count)
    for at = (count - 1) * ${ENTRY_BYTES} + 1, 1, -${ENTRY_BYTES} do
      local time, cost = struct.unpack('<dd', bytes, at)
      if cost > units then
        logWrite(key, index, time, cost - units)
        units, c = 0, c - units
      end
      if units == 0 then break end
      units, c, index = units - cost, c - cost, index - 1
    end
    size = math.min(4 * size, ${CHUNK})
  end
  a, b = logRemove(key, index + 1, last, a, b)
  return a, b, c
end

-- Adds units at the time at, behind entry number index; later entries move up by one.
local function logInsert(key, index, at, units, a, b)
  if index >= a then
    local time, cost = logRead(key, index)
    if time == at then
      logWrite(key, index, at, cost + units)
      return b
    end
  end
  local first = head + (index + 1) * ${ENTRY_BYTES}
  local later = redis.call('GETRANGE', key, first, head + b * ${ENTRY_BYTES} - 1)
  logWrite(key, index + 1, at, units)
  if index + 1 < b then redis.call('SETRANGE', key, first + ${ENTRY_BYTES}, later) end
  return b + 1
end

-- ms until the oldest entries that hold units have left, counting added units of now
local function logWait(key, window, now, a, b, units, added)
  local _, freed, time = logPass(key, a, b, math.huge, math.max(units, 1))
  if time then return math.min(time, now) + window - now end
  return freed + added >= units and window or -1
end

-- ms until the last entry leaves
local function logReset(key, window, now, a, b, c)
  if c == 0 or a == b then return 0 end
  return math.min((logRead(key, b - 1)), now) + window - now
end
`

/**
 * The Lua form of sliding-log.ts.
 *
 * State: a = entries dropped at the front, b = entries ever added, c = units in those not dropped;
 * behind them one entry for each millisecond in which something was admitted: time (ms), cost
 * (units), oldest first.
 */
export const slidingLogLua: LuaStep = {
  // units, ms
  constants: ['limit', 'window'],
  decide: `
    local last = a < b and logRead(key, b - 1) or 0
    rebased = last > now
    a, c = logTrim(key, now - window, a, b, c)
    admitted = cost <= limit - c and c < limit`,
  commit: `
    b = logClamp(key, now, a, b, c)
    if cost > 0 then
      local time, last
      if a < b then time, last = logRead(key, b - 1) end
      if time == now then
        logWrite(key, b - 1, now, last + cost)
      else
        a, b = logCompact(key, a, b)
        logWrite(key, b, now, cost)
        b = b + 1
      end
      c = c + cost
    end
    fullIn = window`,
  settle: `
    b = logClamp(key, now, a, b, c)
    a, c = logTrim(key, now - window, a, b, c)
    local at = math.min(chargedAt, now)
    if at > now - window then
      local last = logLastUntil(key, at, a, b)
      if delta < 0 then
        a, b, c = logTakeBack(key, last, -delta, a, b, c)
      elseif delta > 0 then
        b, c = logInsert(key, last, at, delta, a, b), c + delta
      end
    end
    fullIn = logReset(key, window, now, a, b, c)`,
  keep: `
    keepFor = 2 * window`,
  own: `
    limit = math.min(${MAX_LOG_LIMIT}, ownLimit)`,
  grantEnd: `
    ends = now + window`,
  entries: {
    show: `
      local room = limit - c
      remaining, excess = math.max(0, room), math.max(0, -room)
      if admitted then
        remaining = room - cost
        wait = logWait(key, window, now, a, b, remaining > 0 and 0 or 1, cost)
      else
        local units = math.max(cost, 1)
        wait = units > limit and -1 or logWait(key, window, now, a, b, units - room, 0)
      end
      if admitted and cost > 0 then
        resetIn = window
      else
        resetIn = logReset(key, window, now, a, b, c)
      end`,
    functions: FUNCTIONS,
  },
}
