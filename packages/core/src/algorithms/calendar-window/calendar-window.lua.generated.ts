// Generated from calendar-window.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Windows of the calendar: the Lua form of calendar-window.ts, in the sections that
-- stores/redis/compose.ts documents.
-- state: a = start of the window (ms), b = units charged in it
-- constants: limit (units), edges of five windows: the present one, as the process sees it, and two
--            on each side (ms)
--# constants limit edge1 edge2 edge3 edge4 edge5 edge6

--# check
if now < edge1 or now >= edge6 then
  problem = 'ERR the clocks of this process and of the server are too far apart'
end

--# enter
local start = now >= edge5 and edge5 or now >= edge4 and edge4 or now >= edge3 and edge3
  or now >= edge2 and edge2 or edge1
rebased = a > start
if a < start then b = 0 end
a = start

--# decide
admitted = cost <= limit - b and b < limit

--# commit
b = b + cost

--# settle
if math.min(chargedAt, now) >= a then
  b = math.min(MAX_EXACT, math.max(0, b + delta))
end

--# whole
local finish = now < edge2 and edge2 or now < edge3 and edge3 or now < edge4 and edge4
  or now < edge5 and edge5 or edge6
wholeIn = b > 0 and finish - now or 0
keepFor = wholeIn
`
