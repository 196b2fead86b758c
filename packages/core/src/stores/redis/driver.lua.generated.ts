// Generated from driver.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Runs every operation on the states in Redis, but for requests that request.lua can decide.
-- Composed by compose.ts, which puts the steps of the algorithms and ticks.lua in their places.
--
-- KEYS    each once; all of one request in one slot
--         probe: first a key that no policy has
-- ARGV[1] JSON: op        'consume' | 'peek' | 'settle' | 'renew' | 'probe' | 'block' |
--                         'reset'
--               now       ms, or -1: the server's clock
--               policies  charges per request
--               steps     for each limit, which of the steps it takes (from 1)
--               limits    for each limit, its constants, as its step names them
--               charges   for each charge three numbers: its key (from 1), its limit (from 1) and
--                         its units (consume, peek: the cost; settle, probe: the difference;
--                         block: ms).
--                         Left out if the n-th charge is of the n-th key, the limits take turns,
--                         and all units are the same:
--               units     those of every charge
--               slots     for each charge the slot that it takes or corrects, or 0; left out if none
--                         has one. renew: for each charge all slots that it holds anew
--               chargedAt settle, probe: when the charge was made, ms, or -1: now
--               minTtl    ms: the least that a key lives after a write
-- returns bytes: the time (ms, a little-endian double), then 32 for each charge of consume and peek:
--         the state as it was read, all zero for a key never seen. From it the step in TypeScript
--         tells what was decided;
--         of a step that keeps entries, what was decided: remaining (units; refused: -1 - remaining),
--         reset (ms), wait (ms; -1: never), 0;
--         of a blocked key, as if such a step had refused it: -1, for how long (ms), the same, 1;
--         of a key that can't be read: minus infinity.
--         If there are any of these, an array: the bytes, and what Redis says of each.
--
-- A state is 32 bytes: three integers a, b, c and the time (ms) until which the key lives, as
-- little-endian doubles; a step may keep more behind them. A blocked key holds 8 bytes instead:
-- the time (ms) until which it is blocked.
local NEVER, MAX_EXACT, STATE = -1, 9007199254740991, 32
-- Offsets of the head as text: Redis takes long to format a number that a script hands it.
local HEAD, HEAD_END = '0', '31'
local NEW = ('\\0'):rep(STATE)

--> ticks
--> client
local steps = {
  --> steps
}

local call, pack, read = redis.call, struct.pack, struct.unpack
local input = cjson.decode(ARGV[1])
local op, now, minTtl, limits = input.op, input.now, input.minTtl, input.limits
local policies, charges, units, slots = input.policies, input.charges, input.units, input.slots
local count = charges and #charges / 3 or #KEYS
local stepOf = {}
for limit, number in ipairs(input.steps) do stepOf[limit] = steps[number] end
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The key, the limit and the units of a charge, the i-th of its request.
local function chargeOf(at, i)
  if not charges then return at, i, units end
  return charges[3 * at - 2], charges[3 * at - 1], charges[3 * at]
end

local function slotOf(at)
  return slots and slots[at] or 0
end

if op == 'reset' then
  for at = 1, count do call('DEL', KEYS[chargeOf(at, at)]) end
  return { now }
end

if op == 'block' then
  for at = 1, count do
    local k, _, ms = chargeOf(at, at)
    call('SET', KEYS[k], pack('<d', now + ms), 'PX', math.max(ms, minTtl))
  end
  return { now }
end

-- Calls every command that another operation, or request.lua, may call: where one of them fails, the probe fails
-- too, before it has charged anything. SET comes first: out of memory, Redis refuses a script's
-- first write only.
if op == 'probe' then
  local probe = KEYS[1]
  call('SET', probe, '', 'PX', minTtl)
  call('SETRANGE', probe, HEAD, 'x')
  call('GETRANGE', probe, HEAD, HEAD)
  call('MGET', probe)
  call('GET', probe)
  call('EXISTS', probe)
  call('PEXPIRE', probe, minTtl)
  call('DEL', probe)
  op = 'settle'
end

-- The states that one command can read, by key: those of steps that keep nothing behind them.
local raws = {}
do
  local plain, names, numbers = true, {}, {}
  for limit = 1, #limits do plain = plain and not stepOf[limit].entries end
  if plain then
    raws = call('MGET', unpack(KEYS))
  else
    for at = 1, count do
      local k, limit = chargeOf(at, (at - 1) % policies + 1)
      if not stepOf[limit].entries then names[#names + 1], numbers[#numbers + 1] = KEYS[k], k end
    end
    local found = #names > 0 and call('MGET', unpack(names))
    for n = 1, #names do raws[numbers[n]] = found[n] end
  end
end

-- a, b, c, until when the key lives, until when it is blocked, and why it can't be decided.
local function load(k, limit)
  local raw, step = raws[k], stepOf[limit]
  local problem = step.check and step.check(limits[limit], now)
  if problem then return 0, 0, 0, 0, false, problem end
  if step.entries then
    raw = redis.pcall('GETRANGE', KEYS[k], HEAD, HEAD_END)
    if raw.err then return 0, 0, 0, 0, false, raw.err end
  end
  if raw and #raw == STATE then
    local a, b, c, livesUntil = read('<dddd', raw)
    return a, b, c, livesUntil
  end
  if not raw or #raw == 0 then
    -- MGET takes what is no string for nothing.
    if raw or call('EXISTS', KEYS[k]) == 0 then return 0, 0, 0, 0 end
    return 0, 0, 0, 0, false, 'WRONGTYPE Operation against a key holding the wrong kind of value'
  end
  if #raw ~= 8 then return 0, 0, 0, 0, false, 'ERR a key that holds no state' end
  local blockedUntil = read('<d', raw)
  return 0, 0, 0, 0, blockedUntil > now and blockedUntil
end

-- A key outlives its state, by \`minTtl\` at least.
local function save(k, step, wholeIn, keepFor, livesUntil, a, b, c)
  local key = KEYS[k]
  if now + wholeIn <= livesUntil then
    call('SETRANGE', key, HEAD, pack('<ddd', a, b, c))
  else
    local ttl = keepFor + minTtl
    livesUntil = now + ttl
    local state = pack('<dddd', a, b, c, livesUntil)
    if step.entries then
      call('SETRANGE', key, HEAD, state)
      call('PEXPIRE', key, ttl)
    else
      call('SET', key, state, 'PX', ttl)
    end
  end
  -- A later charge may be of the same key.
  if charges then raws[k] = pack('<dddd', a, b, c, livesUntil) end
end

-- Keeps what a step has corrected.
local function keep(k, step, livesUntil, wholeIn, keepFor, a, b, c)
  if wholeIn == 0 then
    call('DEL', KEYS[k])
  else
    save(k, step, wholeIn, keepFor, livesUntil, a, b, c)
  end
end

-- Corrects a charge, unless its key is blocked.
local function correct(at, k, limit, delta, chargedAt, a, b, c, livesUntil, blockedUntil)
  if blockedUntil then return end
  local step = stepOf[limit]
  keep(k, step, livesUntil,
    step.settle(limits[limit], now, delta, chargedAt, a, b, c, KEYS[k], slotOf(at)))
end

if op == 'settle' then
  local chargedAt = input.chargedAt < 0 and now or input.chargedAt
  -- All are read before the first is written: a key that can't be read leaves none corrected.
  local states = {}
  for at = 1, count do
    local k, limit = chargeOf(at, at)
    states[at] = { load(k, limit) }
    if states[at][6] then return redis.error_reply(states[at][6]) end
  end
  for at = 1, count do
    local k, limit, delta = chargeOf(at, at)
    correct(at, k, limit, delta, chargedAt, unpack(states[at], 1, 5))
  end
  return { now }
end

if op == 'renew' then
  for at = 1, count do
    local k, limit = chargeOf(at, (at - 1) % policies + 1)
    local a, b, c, livesUntil, blockedUntil, failure = load(k, limit)
    if not failure and not blockedUntil then
      local step = stepOf[limit]
      keep(k, step, livesUntil, step.renew(limits[limit], now, slots[at], a, b, c, KEYS[k]))
    end
  end
  return { now }
end

local states, failures = {}, {}

-- Decides a charge and adds to the reply what it says of it. Returns whether it is admitted, whether
-- the clock has stepped back behind the state, until when the key lives, and the state as it is now,
-- not charged yet.
local function decide(at, k, limit, cost)
  local step = stepOf[limit]
  local a, b, c, livesUntil, blockedUntil, failure = load(k, limit)
  if failure then
    -- What can't be read fails its own request only: none of that is charged.
    states[at] = pack('<dddd', -math.huge, 0, 0, 0)
    failures[#failures + 1] = failure
    return false, false
  end
  if blockedUntil then
    states[at] = pack('<dddd', -1, blockedUntil - now, blockedUntil - now, 1)
    return false, false
  end
  local admitted, rebased, x, y, z, remaining, resetIn, wait =
    step.decide(limits[limit], now, cost, a, b, c, KEYS[k])
  if step.entries then
    states[at] = pack('<dddd', admitted and remaining or -1 - remaining, resetIn, wait, 0)
  else
    states[at] = livesUntil > 0 and raws[k] or NEW
  end
  return admitted, rebased, livesUntil, x, y, z
end

local function commit(at, k, limit, cost, livesUntil, a, b, c)
  local step, wholeIn, keepFor = stepOf[limit]
  wholeIn, keepFor, a, b, c =
    step.commit(limits[limit], now, cost, a, b, c, KEYS[k], slotOf(at))
  save(k, step, wholeIn, keepFor, livesUntil, a, b, c)
end

local consumes = op == 'consume'

local function decideAlone(at)
  local k, limit, cost = chargeOf(at, 1)
  local admitted, rebased, livesUntil, a, b, c = decide(at, k, limit, cost)
  if consumes and ((admitted and cost > 0) or rebased) then
    commit(at, k, limit, admitted and cost or 0, livesUntil, a, b, c)
  end
end

-- Of the request that is being decided, by policy: what decide returned.
local admittedOf, rebasedOf, livesUntilOf, aOf, bOf, cOf = {}, {}, {}, {}, {}, {}

local function decideInto(i, at, k, limit, cost)
  admittedOf[i], rebasedOf[i], livesUntilOf[i], aOf[i], bOf[i], cOf[i] = decide(at, k, limit, cost)
  return admittedOf[i]
end

-- Whether a policy with the same key as the i-th refuses the request.
local function isRefused(first, i)
  local client = clientOf(KEYS[chargeOf(first + i - 1, i)])
  for j = 1, policies do
    local k = chargeOf(first + j - 1, j)
    if not admittedOf[j] and clientOf(KEYS[k]) == client then return true end
  end
  return false
end

-- All charges of a request are decided before the first is committed.
local function decideTogether(first)
  local all, failed = true, #failures
  for i = 1, policies do
    local k, limit, cost = chargeOf(first + i - 1, i)
    if not decideInto(i, first + i - 1, k, limit, cost) then all = false end
  end
  for i = 1, policies do
    local k, limit, cost = chargeOf(first + i - 1, i)
    if stepOf[limit].refusals then
      local counts = admittedOf[i] and #failures == failed and isRefused(first, i)
      cost = counts and cost or 0
    elseif not all then
      cost = 0
    end
    if admittedOf[i] and not all and stepOf[limit].entries then
      -- Another policy refused: this one is shown, and kept, as it stands.
      decideInto(i, first + i - 1, k, limit, 0)
    end
    if consumes and (cost > 0 or rebasedOf[i]) then
      commit(first + i - 1, k, limit, cost, livesUntilOf[i], aOf[i], bOf[i], cOf[i])
    end
  end
end

local decideRequest = policies == 1 and decideAlone or decideTogether
for first = 1, count, policies do decideRequest(first) end

local reply = pack('<d', now) .. table.concat(states)
if #failures == 0 then return reply end
return { reply, unpack(failures) }
`
