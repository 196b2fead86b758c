import { HELD_SUFFIX, MOST_ENDED } from './held.ts'

/** Scores of entries by their ends are below it, ms; that of the clock is above. */
const CLOCK = 2 ** 52
/** Scores of counts are below 1, and those of ends above. */
const ONE = 1 / 4096
/** Bytes of the slot and of how long it is held. Where an entry has more, the last 8 are whose it is. */
const SLOT_BYTES = 16
/** In Lua, the owner of an entry that is nobody's in particular: 0. */
const NOBODY = '\\0'.repeat(8)

/**
 * The Lua form of held.ts. What is held of a key is in a sorted set beside it, so that a call touches only what has
 * ended and what it is about. It has for each entry its bytes (slot, big-endian; ms for which it is held; what its
 * step adds), by when it ends, and again with a dot behind them, by its slot below zero. \`clock\` is there by the
 * last time at which something was held, above all others; and each owner above 0 by how many entries it has, as a
 * fraction.
 */
export const HELD_LUA = `
local function heldKey(key) return key .. '${HELD_SUFFIX}' end

-- What is asked for again and again in one call: when something was held last (ms), the entry that ends last, and when.
local tops = {}
local function heldTop(held)
  local top = tops[held]
  if not top then
    local found = redis.call('ZRANGE', held, '0', '1', 'REV', 'WITHSCORES')
    top = { clock = found[2] and found[2] - ${CLOCK} or nil, entry = found[3], ends = (found[4] or 0) + 0 }
    tops[held] = top
  end
  return top
end

-- When something was held last, ms; nil if nothing is held.
local function heldClock(held) return heldTop(held).clock end

-- Forgets all of it.
local function heldClear(held)
  redis.call('DEL', held)
  tops[held] = { ends = 0 }
end

-- Whether so many entries may be there: each is there twice, beside its clock and owners.
local function heldReaches(held, count)
  return redis.call('ZRANGE', held, 2 * count, 2 * count)[1] ~= nil
end

-- How many end later than a time.
local function heldAfter(held, time)
  return redis.call('ZCOUNT', held, time + 1, ${CLOCK - 1})
end

-- The entries that have ended at now, each followed by when, the first ones first. They are read once: a thousand
-- take long.
local knownEnded = {}
local function heldEnded(held, now)
  local ended = knownEnded[held]
  if not ended then
    ended = redis.call('ZRANGE', held, '1', now, 'BYSCORE', 'LIMIT', '0', '${MOST_ENDED}', 'WITHSCORES')
    knownEnded[held] = ended
  end
  return ended
end

-- When the last entry ends, ms; now if there is none. After the clock has stepped back, each is held as of now.
local function heldLast(held, now, clock)
  if not clock or clock <= now then return math.max(now, heldTop(held).ends) end
  local all, last = redis.call('ZRANGE', held, now + 1, ${CLOCK - 1}, 'BYSCORE', 'WITHSCORES'), now
  for i = 1, #all, 2 do
    last = math.max(last, math.min(all[i + 1], now + struct.unpack('<d', all[i], 9)))
  end
  return last
end

-- Whose an entry is; nil: nobody's in particular.
local function heldOwner(entry)
  local owner = #entry > ${SLOT_BYTES} and string.sub(entry, -8)
  return owner and owner ~= '${NOBODY}' and owner or nil
end

-- How many entries an owner has. Those of nobody are the others.
local function heldCount(held, owner)
  if owner > 0 then return (redis.call('ZSCORE', held, struct.pack('<d', owner)) or 0) / ${ONE} end
  local owners, owned = redis.call('ZRANGE', held, 0, '(1', 'BYSCORE', 'WITHSCORES'), 0
  for i = 2, #owners, 2 do owned = owned + owners[i] / ${ONE} end
  return heldAfter(held, 0) - owned
end

-- Takes out entries, each of which is followed by something else.
local function heldDrop(held, entries)
  if #entries == 0 then return end
  local gone, owners = {}, {}
  knownEnded[held] = nil
  local top = heldTop(held)
  for i = 1, #entries, 2 do
    local entry = entries[i]
    if entry == top.entry then tops[held] = nil end
    gone[i], gone[i + 1] = entry, entry .. '.'
    local owner = heldOwner(entry)
    if owner then owners[owner] = (owners[owner] or 0) - ${ONE} end
  end
  redis.call('ZREM', held, unpack(gone))
  for owner, change in pairs(owners) do
    if redis.call('ZADD', held, 'INCR', change, owner) == '0' then redis.call('ZREM', held, owner) end
  end
end

-- Which of them lived for no time yet, before this call.
local heldNew = {}

-- Holds an entry from at on.
local function heldAdd(held, at, slot, hold, extras)
  local top = heldTop(held)
  local entry = struct.pack('>d', slot) .. struct.pack('<d', hold) .. extras
  local added = redis.call('ZADD', held, 'GT', at + hold, entry, -slot, entry .. '.', at + ${CLOCK}, 'clock')
  local owner = heldOwner(entry)
  -- One that is sent twice within a millisecond is there already.
  if owner and added > 1 then redis.call('ZADD', held, 'INCR', ${ONE}, owner) end
  if not top.clock then heldNew[held] = true end
  if at + hold > top.ends then top.entry, top.ends = entry, at + hold end
  if at > (top.clock or 0) then top.clock = at end
end

-- Takes out the entry of a slot. Returns what its step has added, or nil: of several, of the one with the shortest hold.
local function heldTake(held, slot)
  local found, entries = redis.call('ZRANGE', held, -slot, -slot, 'BYSCORE'), {}
  for i, entry in ipairs(found) do entries[2 * i - 1], entries[2 * i] = string.sub(entry, 1, -2), '' end
  if #found > 0 then heldDrop(held, entries) end
  local first = entries[1]
  for i = 3, #entries, 2 do
    if struct.unpack('<d', entries[i], 9) < struct.unpack('<d', first, 9) then first = entries[i] end
  end
  return first and string.sub(first, ${SLOT_BYTES + 1})
end

-- Holds those of these slots that are held anew, from now on. Returns the others.
local function heldRenew(held, slots, now, hold)
  local missing, again = {}, {}
  local length = struct.pack('<d', hold)
  for _, slot in ipairs(slots) do
    local found = redis.call('ZRANGE', held, -slot, -slot, 'BYSCORE')[1]
    if not found then
      missing[#missing + 1] = slot
    elseif string.sub(found, 9, 16) == length then
      again[#again + 1] = now + hold
      again[#again + 1] = string.sub(found, 1, -2)
    else
      heldAdd(held, now, slot, hold, heldTake(held, slot))
    end
  end
  again[#again + 1] = now + ${CLOCK}
  again[#again + 1] = 'clock'
  redis.call('ZADD', held, unpack(again))
  tops[held] = nil
  return missing
end

-- Drops what has ended at now. After the clock has stepped back, the others are held as of now.
local function heldMove(held, now, clock, ended)
  heldDrop(held, ended)
  if clock <= now then return end
  local all, moved = redis.call('ZRANGE', held, now + 1, ${CLOCK - 1}, 'BYSCORE', 'WITHSCORES'), {}
  for i = 1, #all, 2 do
    local latest = now + struct.unpack('<d', all[i], 9)
    if all[i + 1] + 0 > latest then
      moved[#moved + 1] = latest
      moved[#moved + 1] = all[i]
    end
  end
  moved[#moved + 1] = now + ${CLOCK}
  moved[#moved + 1] = 'clock'
  redis.call('ZADD', held, unpack(moved))
  tops[held] = nil
end
`
