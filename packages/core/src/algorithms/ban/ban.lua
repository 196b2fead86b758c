-- Ban: the Lua form of ban.ts, in the sections that stores/redis/compose.ts documents.
-- state: a = bans so far × 128 + refusals counted, b = when the first of these came,
--        c = when the last of these came; without any, when the last ban ends (ms)
-- constants: after (refusals), within (ms), how long each ban lasts (ms)
--# constants after within ban1 ban2 ban3 ban4 ban5 ban6 ban7 ban8 ban9 ban10
--# refusals

--# enter
local count = a % 128
local latest = now
if a > 0 and count == 0 then
  latest = now + ({ ban1, ban2, ban3, ban4, ban5, ban6, ban7, ban8, ban9, ban10 })[a / 128]
end
if c > latest then
  rebased = true
  b = math.min(b, now)
  c = latest
end
if a > 0 and now - c >= within then a, b, c, count = 0, 0, 0, 0 end

--# decide
admitted = a == 0 or count > 0 or now >= c

--# commit
if cost > 0 then
  local count = a % 128
  local bans = (a - count) / 128
  if count == 0 or now - b >= within then count, b = 0, now end
  count = count + 1
  c = now
  if count >= after then
    count = 0
    bans = math.min(bans + 1, 10)
    c = now + ({ ban1, ban2, ban3, ban4, ban5, ban6, ban7, ban8, ban9, ban10 })[bans]
  end
  a = bans * 128 + count
end

--# whole
wholeIn = a > 0 and c + within - now or 0
