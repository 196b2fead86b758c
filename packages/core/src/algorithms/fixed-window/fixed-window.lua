-- Fixed window: the Lua form of fixed-window.ts, in the sections that stores/redis/compose.ts
-- documents.
-- state: a = number of the window since the epoch, b = units charged in it
-- constants: limit (units), window (ms)
--# constants limit window

--# enter
local number = (now - now % window) / window
rebased = a > number
if a < number then b = 0 end
a = number

--# decide
admitted = cost <= limit - b and b < limit

--# commit
b = b + cost

--# settle
if math.floor(math.min(chargedAt, now) / window) == a then
  b = math.min(MAX_EXACT, math.max(0, b + delta))
end

--# whole
wholeIn = b > 0 and (a + 1) * window - now or 0
