// Generated from calendar-window.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Windows of the calendar: the Lua form of calendar-window.ts, in the sections that
-- stores/redis/compose.ts documents.
-- state: a = start of the window (ms), b = units charged in it, c = end of the window (ms)
-- constants: limit (units), edges of five windows: the present one, as the process sees it, and two
--            on each side (ms)
--# constants limit edge1 edge2 edge3 edge4 edge5 edge6

--# check
if now < edge1 or now >= edge6 then
  problem = 'ERR the clocks of this process and of the server are too far apart'
end

--# enter
rebased = now < a
if now >= c or rebased then
  if now >= c then b = 0 end
  if now >= edge5 then a, c = edge5, edge6
  elseif now >= edge4 then a, c = edge4, edge5
  elseif now >= edge3 then a, c = edge3, edge4
  elseif now >= edge2 then a, c = edge2, edge3
  else a, c = edge1, edge2
  end
end

--# decide
admitted = cost <= limit - b and b < limit

--# commit
b = b + cost

--# settle
if math.min(chargedAt, now) >= a then
  b = math.min(MAX_EXACT, math.max(0, b + delta))
end

--# whole
wholeIn = b > 0 and c - now or 0
`
