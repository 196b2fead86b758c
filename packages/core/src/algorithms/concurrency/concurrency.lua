-- Concurrency: the Lua form of concurrency.ts, in the sections that stores/redis/compose.ts
-- documents.

-- limit (slots), hold (ms)
--# constants limit hold
-- a = entries; behind the state one of 16 bytes for each slot: until when it is held (ms), its
-- number; the next to expire first
--# functions
local ENTRY, ASK_AGAIN = 16, 1000

local function entriesOf(key, count)
  if count == 0 then return '' end
  return redis.call('GETRANGE', key, STATE, STATE + count * ENTRY - 1)
end

-- How many entries expire at or before `time`.
local function countUntil(entries, time)
  local low, high = 0, #entries / ENTRY
  while low < high do
    local middle = math.floor((low + high) / 2)
    if struct.unpack('<d', entries, middle * ENTRY + 1) <= time then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- The entries without those that have expired; what is held too long, since the clock has stepped
-- back, is held until `latest`.
local function current(entries, now, latest)
  entries = string.sub(entries, countUntil(entries, now) * ENTRY + 1)
  local kept = countUntil(entries, latest)
  if kept * ENTRY == #entries then return entries end
  local time, parts = struct.pack('<d', latest), { string.sub(entries, 1, kept * ENTRY) }
  for at = kept * ENTRY, #entries - 1, ENTRY do
    parts[#parts + 1] = time .. string.sub(entries, at + 9, at + ENTRY)
  end
  return table.concat(parts)
end

local function without(entries, slot)
  local number, from = struct.pack('<d', slot), 1
  while true do
    local first = string.find(entries, number, from, true)
    if not first then return entries end
    -- Elsewhere in an entry it is something else.
    if first % ENTRY == 9 then
      return string.sub(entries, 1, first - 9) .. string.sub(entries, first + 8)
    end
    from = first + 1
  end
end

-- The entries with all of the slots held until `latest`, in one pass.
local function renewed(entries, slots, latest)
  local isRenewed, parts, from = {}, {}, 1
  for _, slot in ipairs(slots) do isRenewed[slot] = true end
  for at = 1, #entries, ENTRY do
    if isRenewed[struct.unpack('<d', entries, at + 8)] then
      parts[#parts + 1] = string.sub(entries, from, at - 1)
      from = at + ENTRY
    end
  end
  parts[#parts + 1] = string.sub(entries, from)
  for slot in pairs(isRenewed) do parts[#parts + 1] = struct.pack('<dd', latest, slot) end
  return table.concat(parts)
end

local function write(key, entries)
  if #entries > 0 then redis.call('SETRANGE', key, STATE, entries) end
  return #entries / ENTRY
end

-- ms until the last entry expires
local function reset(entries, now)
  if #entries == 0 then return 0 end
  return struct.unpack('<d', entries, #entries - ENTRY + 1) - now
end

--# decide
local entries = entriesOf(key, a)
rebased = countUntil(entries, now + hold) < a
local room = limit - a + countUntil(entries, now)
admitted = cost <= room and room > 0
remaining = math.max(0, admitted and room - cost or room)
wait = math.max(cost, 1) > limit and NEVER or ASK_AGAIN
if admitted and cost > 0 then
  resetIn = hold
else
  resetIn = math.max(0, math.min(reset(entries, now), hold))
end

--# commit
local entries = current(entriesOf(key, a), now, now + hold)
if cost > 0 and slot > 0 then
  entries = without(entries, slot) .. struct.pack('<dd', now + hold, slot)
end
a, wholeIn = write(key, entries), reset(entries, now)

--# settle
local entries = current(entriesOf(key, a), now, now + hold)
if delta ~= 0 and slot > 0 then
  entries = without(entries, slot)
  if delta > 0 then entries = entries .. struct.pack('<dd', now + hold, slot) end
end
a, wholeIn = write(key, entries), reset(entries, now)

--# renew
local entries = renewed(current(entriesOf(key, a), now, now + hold), slots, now + hold)
a, wholeIn = write(key, entries), reset(entries, now)

--# keep
keepFor = 2 * hold
