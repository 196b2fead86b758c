// Generated from sliding-window.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Sliding window: the Lua form of sliding-window.ts, in the sections that stores/redis/compose.ts
-- documents.
-- limit (units), window (ms), ticks per window (left out where a tick is a millisecond)
--# constants limit window ticks
-- a = number of the window since the epoch, b = units charged in the window before it,
-- c = units charged in it
--# state a b c

--# enter
local number = (now - now % window) / window
rebased = a > number
if a ~= number then
  if rebased then b = b + c elseif a == number - 1 then b = c else b = 0 end
  a, c = number, 0
end
-- The most that a count may hold for its product with the ticks to be exact.
local most = MAX_EXACT / (ticks or window)
if b > most then b = math.floor(most) end
if c > most then c = math.floor(most) end

--# decide
local room = limit - c
if b > 0 then
  local inside = window - 1 - now % window
  if ticks then inside = tickAt(inside, window, ticks) end
  room = room - math.floor(b * inside / (ticks or window))
end
admitted = cost <= room and room > 0

--# commit
c = c + cost

--# settle
local charged = math.floor(chargedAt / window)
if charged == a then
  c = math.min(math.floor(most), math.max(0, c + delta))
elseif charged == a - 1 or charged > a then
  b = math.min(math.floor(most), math.max(0, b + delta))
end

--# whole
local elapsed = now % window
if c > 0 then
  -- At most a millisecond more than it takes: nothing hangs on that but the life of the key.
  wholeIn = 2 * window - elapsed
  if not ticks then wholeIn = wholeIn - math.floor(window / c) end
elseif b > 0 then
  local faded = math.ceil((ticks or window) / b)
  if ticks then faded = tickStart(faded, window, ticks) end
  wholeIn = math.max(0, window - faded - elapsed)
else
  wholeIn = 0
end
`
