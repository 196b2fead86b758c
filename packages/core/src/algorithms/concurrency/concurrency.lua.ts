import { HELD_LUA } from '../held/held.lua.ts'
import { MAX_CONCURRENT, SLOT_WAIT_MS } from '../held/held.ts'
import type { LuaStep } from '../lua-step.ts'

/** Drops what has ended. Without a state, what is there has no meaning. */
const MOVE = `
    local held = heldKey(key)
    local clock = a > 0 and heldClock(held)
    if clock then heldMove(held, now, clock, heldEnded(held, now)) elseif a == 0 then heldClear(held) end`

const END = `
    a, fullIn = 1, heldLast(held, now) - now`

/** Takes the slot out, and holds it anew if so many units are charged. */
const charge = (units: string) => `
    ${MOVE}
    if ${units} ~= 0 and slot > 0 then
      if clock then heldTake(held, slot) end
      if ${units} > 0 then heldAdd(held, now, slot, hold, '') end
    end
    ${END}`

/**
 * The Lua form of concurrency.ts.
 *
 * State: a = 1. What is held is in the sorted set of held.lua.ts.
 */
export const concurrencyLua: LuaStep = {
  // slots, ms
  constants: ['limit', 'hold'],
  claims: { decide: { slot: 0 }, settle: { slot: 0 } },
  own: `
    limit = math.min(${MAX_CONCURRENT}, ownLimit)`,
  decide: `
    local held = heldKey(key)
    local clock = a > 0 and heldClock(held)
    local room = limit - (clock and heldAfter(held, now) or 0)
    rebased = clock and clock > now
    admitted = cost <= room and room > 0`,
  commit: charge('cost'),
  settle: charge('delta'),
  keep: `
    keepFor = math.max(fullIn, 2 * hold)`,
  entries: {
    show: `
      local held = heldKey(key)
      local clock = a > 0 and heldClock(held)
      local room = limit - (clock and heldAfter(held, now) or 0)
      remaining, excess = math.max(0, admitted and room - cost or room), math.max(0, -room)
      wait = math.max(cost, 1) > limit and -1 or ${SLOT_WAIT_MS}
      resetIn = clock and heldLast(held, now, clock) - now or 0
      if admitted and cost > 0 then resetIn = math.max(hold, resetIn) end`,
    renew: `
      ${MOVE}
      for _, slot in ipairs(heldRenew(held, slots, now, hold)) do heldAdd(held, now, slot, hold, '') end
      ${END}`,
    functions: HELD_LUA,
  },
}
