import type { LuaStep } from '../lua-step.ts'

/** Bans of different lengths. */
export const MAX_BANS = 10
/** Refusals and bans share an integer. */
export const RADIX = 128

/** How long the first ban lasts, the second one, and so on. */
const BANS = Array.from({ length: MAX_BANS }, (_, i) => `ban${i + 1}`)

/**
 * The Lua form of ban.ts.
 *
 * State: a = bans so far × RADIX + refusals counted, b = when the first of these came, c = when the
 * last of these came (ms); without any, b = when the last ban began, c = when it ends.
 */
export const banLua: LuaStep = {
  // refusals, ms, ms
  constants: ['after', 'within', ...BANS],
  enter: `
    local count = a % ${RADIX}
    local isBan = a > 0 and count == 0
    rebased = now < (isBan and b or c)
    if rebased then
      c = isBan and now + c - b or now
      b = math.min(b, now)
    end
    if a > 0 and now - c >= within then a, b, c, count = 0, 0, 0, 0 end`,
  decide: `
    admitted = a == 0 or count > 0 or now >= c`,
  commit: `
    if cost > 0 then
      local count = a % ${RADIX}
      local bans = (a - count) / ${RADIX}
      if count == 0 or now - b >= within then count, b = 0, now end
      count = count + 1
      c = now
      if count >= after then
        count, b = 0, now
        bans = math.min(bans + 1, ${MAX_BANS})
        c = now + ({ ${BANS.join(', ')} })[bans]
      end
      a = bans * ${RADIX} + count
    end`,
  full: `
    fullIn = a > 0 and c + within - now or 0`,
}
