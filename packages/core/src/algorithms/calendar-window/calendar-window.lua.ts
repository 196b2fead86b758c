import { fixedWindowLua } from '../fixed-window/fixed-window.lua.generated.ts'
import type { LuaStep } from '../lua-step.ts'
import { calendarWindowLua } from './calendar-window.lua.generated.ts'

export const calendarLua: LuaStep = {
  ...fixedWindowLua,
  ...calendarWindowLua,
  constantsMove: true,
  // In TypeScript the edges are always those around the time.
  check: `
    if now < edge1 or now >= edge6 then
      problem = 'ERR the clocks of this process and of the server are too far apart'
    end`,
}
