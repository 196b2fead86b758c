import { ENTRY_BYTES, type LuaStep } from '../lua-step.ts'

/**
 * How long a refused client waits before it asks again, ms: nobody can know when a slot will be given back.
 */
export const ASK_AGAIN_MS = 1000

const FUNCTIONS = `
local function slotEntries(key, count)
  if count == 0 then return '' end
  return redis.call('GETRANGE', key, head, head + count * ${ENTRY_BYTES} - 1)
end

-- How many entries expire at or before time.
local function slotsUntil(entries, time)
  local low, high = 0, #entries / ${ENTRY_BYTES}
  while low < high do
    local middle = math.floor((low + high) / 2)
    if struct.unpack('<d', entries, middle * ${ENTRY_BYTES} + 1) <= time then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- The entries without those that have expired; what is held too long, since the clock has stepped
-- back, is held until latest.
local function currentSlots(entries, now, latest)
  entries = string.sub(entries, slotsUntil(entries, now) * ${ENTRY_BYTES} + 1)
  local kept = slotsUntil(entries, latest)
  if kept * ${ENTRY_BYTES} == #entries then return entries end
  local time, parts = struct.pack('<d', latest), { string.sub(entries, 1, kept * ${ENTRY_BYTES}) }
  for at = kept * ${ENTRY_BYTES}, #entries - 1, ${ENTRY_BYTES} do
    parts[#parts + 1] = time .. string.sub(entries, at + 9, at + ${ENTRY_BYTES})
  end
  return table.concat(parts)
end

local function withoutSlot(entries, slot)
  local number, from = struct.pack('<d', slot), 1
  while true do
    local first = string.find(entries, number, from, true)
    if not first then return entries end
    -- Elsewhere in an entry it is something else.
    if first % ${ENTRY_BYTES} == 9 then
      return string.sub(entries, 1, first - 9) .. string.sub(entries, first + 8)
    end
    from = first + 1
  end
end

-- The entries with all of the slots held until latest, in one pass.
local function renewedSlots(entries, slots, latest)
  local isRenewed, parts, from = {}, {}, 1
  for _, slot in ipairs(slots) do isRenewed[slot] = true end
  for at = 1, #entries, ${ENTRY_BYTES} do
    if isRenewed[struct.unpack('<d', entries, at + 8)] then
      parts[#parts + 1] = string.sub(entries, from, at - 1)
      from = at + ${ENTRY_BYTES}
    end
  end
  parts[#parts + 1] = string.sub(entries, from)
  for slot in pairs(isRenewed) do parts[#parts + 1] = struct.pack('<dd', latest, slot) end
  return table.concat(parts)
end

-- ms until the last entry expires
local function slotsReset(entries, now)
  if #entries == 0 then return 0 end
  return struct.unpack('<d', entries, #entries - ${ENTRY_BYTES} + 1) - now
end

-- Writes the entries. Returns how many there are, and the ms until the last one expires.
local function writeSlots(key, entries, now)
  if #entries > 0 then redis.call('SETRANGE', key, head, entries) end
  return #entries / ${ENTRY_BYTES}, slotsReset(entries, now)
end

-- Takes a slot out of the count entries, and holds it until latest if units are charged.
local function chargeSlot(key, count, now, latest, units, slot)
  local entries = currentSlots(slotEntries(key, count), now, latest)
  if units ~= 0 and slot > 0 then
    entries = withoutSlot(entries, slot)
    if units > 0 then entries = entries .. struct.pack('<dd', latest, slot) end
  end
  return writeSlots(key, entries, now)
end
`

/**
 * The Lua form of concurrency.ts.
 *
 * State: a = entries; behind it one for each slot: until when it is held (ms), its number; the next
 * to expire first.
 */
export const concurrencyLua: LuaStep = {
  // slots, ms
  constants: ['limit', 'hold'],
  decide: `
    local entries = slotEntries(key, a)
    rebased = slotsUntil(entries, now + hold) < a
    local room = limit - a + slotsUntil(entries, now)
    admitted = cost <= room and room > 0`,
  commit: `
    a, fullIn = chargeSlot(key, a, now, now + hold, cost, slot)`,
  settle: `
    a, fullIn = chargeSlot(key, a, now, now + hold, delta, slot)`,
  keep: `
    keepFor = 2 * hold`,
  entries: {
    show: `
      local entries = slotEntries(key, a)
      local room = limit - a + slotsUntil(entries, now)
      remaining = math.max(0, admitted and room - cost or room)
      wait = math.max(cost, 1) > limit and -1 or ${ASK_AGAIN_MS}
      if admitted and cost > 0 then
        resetIn = hold
      else
        resetIn = math.max(0, math.min(slotsReset(entries, now), hold))
      end`,
    renew: `
      local entries = renewedSlots(currentSlots(slotEntries(key, a), now, now + hold), slots, now + hold)
      a, fullIn = writeSlots(key, entries, now)`,
    functions: FUNCTIONS,
  },
}
