-- Ban: the Lua form of ban.ts, in the sections that stores/redis/compose.ts documents.
-- state: a = bans so far × 128 + refusals counted, b = when the first of these came,
--        c = when the last of these came (ms); without any, b = when the last ban began,
--        c = when it ends
-- constants: after (refusals), within (ms), how long each ban lasts (ms)
--# constants after within ban1 ban2 ban3 ban4 ban5 ban6 ban7 ban8 ban9 ban10
--# refusals

--# enter
local count = a % 128
local isBan = a > 0 and count == 0
rebased = now < (isBan and b or c)
if rebased then
  c = isBan and now + c - b or now
  b = math.min(b, now)
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
    count, b = 0, now
    bans = math.min(bans + 1, 10)
    c = now + ({ ban1, ban2, ban3, ban4, ban5, ban6, ban7, ban8, ban9, ban10 })[bans]
  end
  a = bans * 128 + count
end

--# whole
wholeIn = a > 0 and c + within - now or 0
