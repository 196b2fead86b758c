import { HELD_LUA } from '../held/held.lua.ts'
import {
  MAX_REMEMBERED,
  MAX_RESERVATIONS,
  REMEMBERED_MS,
  SETTLED,
  SLOT_WAIT_MS,
} from '../held/held.ts'
import { type LuaStep, OUTCOME } from '../lua-step.ts'

/**
 * The Lua form of reserved.ts, around that of the other step, whose state is three integers.
 *
 * The reservations are in the sorted set of held.lua.ts; without a state, what is there has no meaning. Each has
 * besides: when it was charged (ms), its units, its owner. A settlement that is remembered is there without units.
 *
 * The reply has the state without what has ended, on which the other step in TypeScript repeats the decision;
 * of a key that has too many reservations, when a client may ask again.
 *
 * @param drains see `Algorithm.drains`
 */
export function reservedLua(inner: LuaStep, drains = false): LuaStep {
  const [units, ...others] = inner.constants
  /** Sets `held`, if there is anything `clock`, and `ended`, which it gives back: its entries are still there. */
  const giveBack = `
    local held, ended = heldKey(key), {}
    local clock = livesUntil ~= 0 and heldClock(held)
    if clock then
      ended = heldEnded(held, now)
      for i = 1, #ended, 2 do
        local chargedAt, units = struct.unpack('<dd', ended[i], 17)
        local delta = -units
        ${drains ? 'local now = ended[i + 1] + 0' : ''}
        ${inner.settle ?? ''}
      end
    end`
  return {
    ...inner,
    constants: [units as string, 'hold', ...others],
    claims: {
      decide: { slot: 0, owner: 0 },
      settle: { slot: 0, owner: 0, reserved: 0, confirmed: -1, confirmedToo: 0 },
    },
    decide: `
    local isFull
    do
      ${giveBack}
      if clock then
        rebased = rebased or #ended > 0 or clock > now
        if heldReaches(held, ${MAX_RESERVATIONS / 2}) then
          local free = ${MAX_RESERVATIONS} - heldAfter(held, 0) + #ended / 2
          local own, settled = heldCount(held, owner), heldCount(held, ${SETTLED})
          for i = 1, #ended, 2 do
            local ender = struct.unpack('<d', ended[i], 33)
            if ender == owner then own = own - 1 end
            if ender == ${SETTLED} then settled = settled - 1 end
          end
          free = free + settled
          isFull = free <= ${MAX_RESERVATIONS / 2} and own >= free
        end
      end
    end
    if isFull then
      admitted, raw = false, pack('<dddd', -1, ${SLOT_WAIT_MS}, ${SLOT_WAIT_MS}, ${OUTCOME.decided} + (own and own.mark or 0))
    else
      raw = pack('<dddd', a, b, c, own and own.mark or 0)
      ${inner.decide}
    end`,
    commit: `
    ${inner.commit}
    local held = heldKey(key)
    local clock = livesUntil ~= 0 and heldClock(held)
    if clock then heldMove(held, now, clock, heldEnded(held, now)) end
    if cost > 0 and slot > 0 then
      if livesUntil == 0 then heldClear(held) end
      heldAdd(held, now, slot, hold, pack('<ddd', now, cost, owner))
    end
    local last = heldLast(held, now)`,
    settle: `
    ${giveBack}
    local delta, chargedAt = delta, chargedAt
    if clock then heldMove(held, now, clock, ended) end
    local remembers = confirmed >= 0
    if reserved > 0 or remembers then
      local taken = clock and heldTake(held, slot)
      if taken then
        local at, units = struct.unpack('<dd', taken)
        chargedAt = delta < 0 and at or now
        if units == 0 then delta = 0 end
      elseif reserved > 0 then
        delta, chargedAt = reserved + delta, now
      end
    end
    raw, corrected = pack('<dddd', a, b, c, own and own.mark or 0), pack('<dd', delta, chargedAt)
    ${inner.settle ?? ''}
    if remembers then
      if livesUntil == 0 then heldClear(held) end
      for _, slot in ipairs({ confirmed, confirmedToo }) do
        local taken = slot > 0 and heldTake(held, slot)
        local chargedAt, units = now, 0
        if taken then chargedAt, units = struct.unpack('<dd', taken) end
        if units > 0 then
          local delta = -units
          ${inner.settle ?? ''}
        end
      end
      if heldCount(held, ${SETTLED}) < ${MAX_REMEMBERED} then
        heldAdd(held, now, slot, ${REMEMBERED_MS}, pack('<ddd', now, 0, ${SETTLED}))
        clock = now
      end
    end
    local last = clock and heldLast(held, now) or now`,
    full: `
    ${inner.full ?? ''}
    fullIn = math.max(fullIn, last - now)`,
    entries: {
      functions: HELD_LUA,
      renew: `
      ${giveBack}
      if clock then
        heldMove(held, now, clock, ended)
        heldRenew(held, slots, now, hold)
      end
      local last = clock and heldLast(held, now) or now`,
    },
  }
}
