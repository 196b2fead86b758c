import { ASK_AGAIN_MS } from '../concurrency/concurrency.lua.ts'
import { type LuaStep, STATE_BYTES } from '../lua-step.ts'

/** The most reservations of a key at the same time. */
export const MAX_RESERVATIONS = 1000

/** Bytes of how many there are and until when the last one is held, and of each: see `FUNCTIONS`. */
const HEAD = 16
const RESERVATION = 32
const FIRST = STATE_BYTES + HEAD

const FUNCTIONS = `
-- Behind the state: how many reservations there are, and until when the last one is held (ms). Then each of
-- them, the next to expire first: until when it is held (ms), its number, when it was charged (ms), its units.
-- Returns the two, and until when the first one is held.
local function reservationHead(key)
  local head = redis.call('GETRANGE', key, ${STATE_BYTES}, ${FIRST + 7})
  if #head < 24 then return 0, 0, 0 end
  local count, newest, first = struct.unpack('<ddd', head)
  return count, newest, first
end

local function reservationBytes(key, count)
  if count == 0 then return '' end
  return redis.call('GETRANGE', key, ${FIRST}, ${FIRST - 1} + count * ${RESERVATION})
end

-- Those that are held after now; what is held too long, since the clock has stepped back, is held until latest.
local function heldReservations(key, now, latest)
  local count, newest = reservationHead(key)
  local all, from = reservationBytes(key, count), 1
  while from < #all and struct.unpack('<d', all, from) <= now do from = from + ${RESERVATION} end
  all = string.sub(all, from)
  if newest <= latest then return all end
  local time, parts = struct.pack('<d', latest), {}
  for at = 1, #all, ${RESERVATION} do
    local untilThen = struct.unpack('<d', all, at) > latest and time or string.sub(all, at, at + 7)
    parts[#parts + 1] = untilThen .. string.sub(all, at + 8, at + ${RESERVATION - 1})
  end
  return table.concat(parts)
end

-- Writes all of them. Returns until when the last one is held; now if there is none.
local function writeReservations(key, all, now)
  local newest = #all > 0 and struct.unpack('<d', all, #all - ${RESERVATION - 1}) or now
  redis.call('SETRANGE', key, ${STATE_BYTES}, struct.pack('<dd', #all / ${RESERVATION}, newest) .. all)
  return newest
end

-- Adds one, which is held until latest, and drops those that have expired.
local function addReservation(key, now, latest, one)
  local count, newest, first = reservationHead(key)
  if count > 0 and (first <= now or newest > latest) then
    return writeReservations(key, heldReservations(key, now, latest) .. one, now)
  end
  if one == '' then return count > 0 and newest or now end
  redis.call('SETRANGE', key, ${FIRST} + count * ${RESERVATION}, one)
  redis.call('SETRANGE', key, ${STATE_BYTES}, struct.pack('<dd', count + 1, latest))
  return latest
end

-- Where a reservation begins, or nil.
local function reservationAt(all, slot)
  local number, from = struct.pack('<d', slot), 1
  while true do
    local found = string.find(all, number, from, true)
    -- Elsewhere in a reservation it is something else.
    if not found or found % ${RESERVATION} == 9 then return found and found - 8 end
    from = found + 1
  end
end

-- Holds these anew, where they are still held. Returns until when the last one is held.
local function renewReservations(key, slots, now, latest)
  local all = heldReservations(key, now, latest)
  local isRenewed, kept, renewed = {}, {}, {}
  for _, slot in ipairs(slots) do isRenewed[slot] = true end
  for at = 1, #all, ${RESERVATION} do
    local part = string.sub(all, at + 8, at + ${RESERVATION - 1})
    if isRenewed[struct.unpack('<d', part)] then
      renewed[#renewed + 1] = struct.pack('<d', latest) .. part
    else
      kept[#kept + 1] = string.sub(all, at, at + 7) .. part
    end
  end
  return writeReservations(key, table.concat(kept) .. table.concat(renewed), now)
end
`

/**
 * The Lua form of reserved.ts, around that of the other step, whose state is three integers.
 *
 * The reply has the state without what has expired, on which the other step in TypeScript repeats the decision;
 * of a key that has too many reservations, that of a key that is blocked until a client may ask again.
 *
 * @param drains see `Algorithm.drains`
 */
export function reservedLua(inner: LuaStep, drains = false): LuaStep {
  const hasTicks = inner.constants.at(-1) === 'ticks'
  const names = hasTicks ? inner.constants.slice(0, -1) : inner.constants
  /** Gives back what has expired; `gone`: how many. */
  const giveBack = `
    local count, newest, first = reservationHead(key)
    local gone = 0
    if count > 0 and first <= now then
      local all = reservationBytes(key, count)
      while gone < count do
        local heldUntil, _, chargedAt, units = struct.unpack('<dddd', all, gone * ${RESERVATION} + 1)
        if heldUntil > now then break end
        local delta = -units
        ${drains ? 'local now = heldUntil' : ''}
        ${inner.settle ?? ''}
        gone = gone + 1
      end
    end`
  return {
    ...inner,
    constants: [...names, 'hold', ...(hasTicks ? ['ticks'] : [])],
    decide: `
    local inUse
    do
      ${giveBack}
      inUse = count - gone
      if inUse > 0 and newest > now + hold then rebased = true end
    end
    if inUse >= ${MAX_RESERVATIONS} then
      admitted, raw = false, pack('<dddd', -1, ${ASK_AGAIN_MS}, ${ASK_AGAIN_MS}, 1)
    else
      raw = pack('<dddd', a, b, c, 0)
      ${inner.decide}
    end`,
    commit: `
    ${inner.commit}
    local one = cost > 0 and slot > 0 and pack('<dddd', now + hold, slot, now, cost) or ''
    local newest = addReservation(key, now, now + hold, one)`,
    settle: `
    do ${giveBack}
    end
    local all = heldReservations(key, now, now + hold)
    local delta, chargedAt = delta, chargedAt
    if reserved > 0 then
      local at = reservationAt(all, slot)
      if at then
        chargedAt = delta < 0 and struct.unpack('<d', all, at + 16) or now
        all = string.sub(all, 1, at - 1) .. string.sub(all, at + ${RESERVATION})
      else
        delta, chargedAt = reserved + delta, now
      end
    end
    raw = pack('<dddd', a, b, c, delta)
    ${inner.settle ?? ''}
    local newest = writeReservations(key, all, now)`,
    full: `
    ${inner.full ?? ''}
    fullIn = math.max(fullIn, newest - now)`,
    entries: {
      functions: FUNCTIONS,
      renew: `
      do ${giveBack}
      end
      local newest = renewReservations(key, slots, now, now + hold)`,
      reserves: true,
    },
  }
}
