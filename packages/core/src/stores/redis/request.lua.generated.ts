// Generated from request.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Decides one request of a few policies, in as little time as Redis can: straight through, making
-- nothing that one request does not need. All other calls run driver.lua, with the same steps.
--
-- KEYS    one for each policy, no two the same
-- ARGV    the constants of each policy, in the order that its step names; then, unless each costs
--         one unit and the clock is the server's: the cost of each policy (units); then, unless it
--         is the server's: the time (ms), and the least that a key lives after a write (ms)
-- returns bytes: the time (ms, a little-endian double), then for each policy its state as it was read:
--         32 bytes, as driver.lua documents them, all zero for a key never seen. From these the step
--         in TypeScript tells what was decided. A blocked key has in their place -1 and for how
--         long (ms).
--         If a key can't be read, what Redis says of that, alone in an array: the request fails, not
--         the call.
--
-- compose.ts writes a block \`each\` once for each policy, with its number for \`i\` in \`_i\` and \`[i]\`,
-- the sections of its step for \`--> names\`, what it is charged for \`--> due\`, and numbers of arguments for COST_i, NOW and LEAST_TTL.
local MAX_EXACT = 9007199254740991
local call = redis.call
local now = ARGV[NOW]
if now then
  now = now + 0
else
  local time = call('TIME')
  now = time[1] * 1000 + time[2] / 1000
  now = now - now % 1
end

--# one
local raw_1 = redis.pcall('GET', KEYS[1])
--# end one
--# several
local raws = call('MGET', unpack(KEYS))
--# each
local raw_i = raws[i]
-- MGET takes what is no string for nothing.
if not raw_i and call('EXISTS', KEYS[i]) == 1 then raw_i = redis.pcall('GET', KEYS[i]) end
--# end each
--# end several

--# each
local a_i, b_i, c_i, livesUntil_i = 0, 0, 0, 0
if not raw_i then
  raw_i = ('\\0'):rep(32)
elseif #raw_i == 32 then
  a_i, b_i, c_i, livesUntil_i = struct.unpack('<dddd', raw_i)
elseif #raw_i == 8 then
  local blockedMs = struct.unpack('<d', raw_i) - now
  if blockedMs > 0 then a_i = -1 end
  raw_i = struct.pack('<dddd', a_i, math.max(0, blockedMs), 0, 0)
elseif raw_i.err and not raw_i.err:find('WRONGTYPE', 1, true) then
  return raw_i
else
  return { raw_i.err or 'ERR a key that holds no state' }
end
--# end each

local all = true
--# each
--> constants
do
  local problem
  --> check
  if problem then return { problem } end
end
local cost_i, admitted_i, rebased_i = (ARGV[COST_i] or 1) + 0, false, false
local x_i, y_i, z_i
if a_i >= 0 then
  local a, b, c, cost, admitted, rebased = a_i, b_i, c_i, cost_i, false, false
  --> enter decide
  admitted_i, rebased_i, x_i, y_i, z_i = admitted, rebased, a, b, c
end
all = all and admitted_i
--# end each

--# each
--> due
if due_i > 0 or rebased_i then
  local a, b, c, cost, wholeIn, keepFor = x_i, y_i, z_i, due_i, 0, 0
  --> commit whole
  if now + wholeIn <= livesUntil_i then
    call('SETRANGE', KEYS[i], '0', struct.pack('<ddd', a, b, c))
  else
    local ttl = keepFor + (ARGV[LEAST_TTL] or 1000)
    local state = struct.pack('<dddd', a, b, c, now + ttl)
    call('SET', KEYS[i], state, 'PX', string.format('%.0f', ttl))
  end
end
--# end each

return struct.pack('<d', now) .. --> states
`
