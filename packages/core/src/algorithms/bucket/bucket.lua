-- Token bucket and leaky bucket: the Lua form of bucket.ts, in the sections that
-- stores/redis/compose.ts documents.
-- state: a = level in parts, b = the tick at which it stood there
-- constants: capacity (parts), unit (parts per unit of cost), rate (parts that drain per tick), window
-- (ms), ticks per window (left out where a tick is a millisecond)
--# constants capacity unit rate window ticks

--# enter
local tick = now
if ticks then tick = tickAt(now, window, ticks) end
rebased = b > tick
if b < tick then
  a = a - (tick - b) * rate
  if a < 0 then a = 0 end
end
b = tick

--# decide
admitted = (cost > 0 and cost or 1) * unit <= capacity - a

--# commit
a = a + cost * unit

--# settle
local change = delta * unit
if delta < 0 then
  -- What has drained since the charge is no longer there to give back.
  local from = chargedAt
  if ticks then from = tickAt(chargedAt, window, ticks) end
  change = math.min(0, change + math.max(0, b - from) * rate)
end
a = math.min(MAX_EXACT, math.max(0, a + change))

--# whole
wholeIn = math.ceil(a / rate)
if ticks and wholeIn > 0 then wholeIn = tickStart(b + wholeIn, window, ticks) - now end

--# keep
-- As long again, since most requests fill it further, and at least for a window, up to an hour: so
-- few requests must renew the life of the key, or create it again.
keepFor = 2 * wholeIn
local least = window < 3600000 and window or 3600000
if keepFor < least then keepFor = least end
