// Generated from sliding-window.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Sliding window: the Lua form of sliding-window.ts, in the sections that stores/redis/compose.ts
-- documents.
-- state: a = number of the window since the epoch, b = units charged in the window before it,
--        c = units charged in it
-- constants: limit (units), window (ms), ticks per window (left out where a tick is a millisecond)
--# constants limit window ticks

--# enter
local number = (now - now % window) / window
rebased = a > number
if a ~= number then
  if rebased then b = b + c elseif a == number - 1 then b = c else b = 0 end
  a, c = number, 0
end
if b > limit or c > limit then
  -- The most that a count may hold for its product with the ticks to be exact. At least the limit.
  local most = math.floor(MAX_EXACT / (ticks or window))
  b, c = math.min(b, most), math.min(c, most)
end

--# decide
local room = limit - c
if b > 0 then
  local inside = (a + 1) * window - 1 - now
  if ticks then inside = tickAt(inside, window, ticks) end
  room = room - math.floor(b * inside / (ticks or window))
end
admitted = cost <= room and room > 0

--# commit
c = c + cost

--# settle
local most = math.floor(MAX_EXACT / (ticks or window))
local charged = math.floor(chargedAt / window)
if charged == a then
  c = math.min(most, math.max(0, c + delta))
elseif charged == a - 1 or charged > a then
  b = math.min(most, math.max(0, b + delta))
end

--# whole
if c > 0 then
  -- Or sooner: but so the life of a key is renewed once a window.
  wholeIn = (a + 2) * window - now
elseif b > 0 then
  local faded = math.ceil((ticks or window) / b)
  if ticks then faded = tickStart(faded, window, ticks) end
  wholeIn = math.max(0, (a + 1) * window - faded - now)
else
  wholeIn = 0
end
`
