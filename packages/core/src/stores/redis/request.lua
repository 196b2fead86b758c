-- Decides requests of a few policies, in as little time as Redis can: straight through, making
-- nothing that a request does not need. Every request has the same limits and costs, and keys of its
-- own. All other calls run driver.lua, with the same steps.
--
-- KEYS    of the requests, one after the other: one for each policy, no two the same
-- ARGV    the constants of each policy, in the order that its step names; then, unless each costs
--         one unit and the clock is the server's: the cost of each policy (units); then, unless it
--         is the server's: the time (ms), and the least that a key lives after a write (ms)
-- returns bytes: the time (ms, a little-endian double), then for each key its state as it was read:
--         32 bytes, as driver.lua documents them, all zero for a key never seen. From these the step
--         in TypeScript tells what was decided. A blocked key has in their place -1 and for how
--         long (ms), one that can't be read minus infinity.
--         If there are any of these last, an array: the bytes, and what Redis says of each.
--
-- compose.ts writes a block `each` once for each policy, with its number for `i`, the sections of
-- its step for `--> names`, what it is charged for `--> due`, numbers of arguments for COST_i, NOW
-- and LEAST_TTL, and leaves out lines that end with `--? name` where the step has nothing of the name.
local MAX_EXACT = 9007199254740991
local KEYS, ARGV, call, pack = KEYS, ARGV, redis.call, struct.pack
local now = ARGV[NOW]
if now then
  now = now + 0
else
  local time = call('TIME')
  now = time[1] * 1000 + time[2] / 1000
  now = now - now % 1
end

--# each
local raw_i, problem_i
--> constants
local cost_i = (ARGV[COST_i] or 1) + 0
--> check
--# end each

local raws, failures
if #KEYS > 1 then raws = call('MGET', unpack(KEYS)) end

for first = 0, #KEYS - 1, POLICIES do
  local readable = true
  --# each
  local a_i, b_i, c_i, livesUntil_i, admitted_i, rebased_i
  -- MGET takes what is no string for nothing: GET says what it is.
  raw_i = raws and raws[first + i] or redis.pcall('GET', KEYS[first + i])
  if problem_i then raw_i = {} end --? check
  if raw_i and #raw_i == 32 then
    a_i, b_i, c_i, livesUntil_i = struct.unpack('<dddd', raw_i)
  else
    a_i, b_i, c_i, livesUntil_i = 0, 0, 0, 0
    if not raw_i then
      raw_i = ('\0'):rep(32)
    elseif #raw_i == 8 then
      local blockedMs = struct.unpack('<d', raw_i) - now
      if blockedMs > 0 then a_i = -1 end
      raw_i = pack('<dddd', a_i, math.max(0, blockedMs), 0, 0)
    elseif raw_i.err and not raw_i.err:find('WRONGTYPE', 1, true) then
      return raw_i
    else
      failures = failures or {}
      failures[#failures + 1] = problem_i or raw_i.err or 'ERR a key that holds no state'
      a_i, raw_i, readable = -1, pack('<dddd', -math.huge, 0, 0, 0), false
    end
    if raws then raws[first + i] = raw_i end
  end
  if a_i >= 0 then
    --> enter decide
  end
  --# end each

  --# each
  --> due
  if due_i > 0 or rebased_i then
    local wholeIn
    --> commit whole
    if now + wholeIn <= livesUntil_i then
      call('SETRANGE', KEYS[first + i], '0', pack('<ddd', a_i, b_i, c_i))
    else
      local keepFor = wholeIn
      --> keep
      local ttl = keepFor + (ARGV[LEAST_TTL] or 1000)
      local state = pack('<dddd', a_i, b_i, c_i, now + ttl)
      call('SET', KEYS[first + i], state, 'PX', string.format('%.0f', ttl))
    end
  end
  --# end each
end

local reply = pack('<d', now) .. (raws and table.concat(raws) or raw_1)
if failures then return { reply, unpack(failures) } end
return reply
