-- Runs the steps of the algorithms on the states in Redis. Composed by script.ts: the steps stand
-- where this file says STEPS.
--
-- KEYS    each once; all of one request in one slot
--         probe: first a key that no policy has
-- ARGV[1] JSON: op        'consume' | 'peek' | 'settle' | 'probe' | 'block' | 'reset'
--               now       ms, or -1: the server's clock
--               policies  charges per request
--               steps     for each quota, which of the steps it takes (from 1)
--               quotas    for each quota, its numbers as its step documents them
--               charges   for each charge three numbers: its key (from 1), its quota (from 1) and
--                         its units (consume, peek: the cost; settle, probe: the difference;
--                         block: ms).
--                         Left out if the n-th charge is of the n-th key, the quotas take turns,
--                         and all units are the same:
--               units     those of every charge
--               chargedAt settle, probe: when the charge was made, ms, or -1: now
--               minTtl    ms: the least that a key lives after a write
-- returns integers: now (ms), then for each charge of consume and peek: delay (ms; -1: refused),
--         remaining (units), reset, wait (ms; -1: never)
--         A key that can't be read has what Redis says of it in place of the delay.
--
-- A state is 32 bytes: three integers a, b, c and the time (ms) until which the key lives, as
-- little-endian doubles; a step may keep more behind them. A blocked key holds 8 bytes instead:
-- the time (ms) until which it is blocked.
local REFUSED, NEVER, MAX_EXACT, STATE = -1, -1, 9007199254740991, 32
-- Offsets of the head as text: Redis takes long to format a number that a script hands it.
local HEAD, HEAD_END = '0', '31'

-- ticks.ts
local function tickAt(ms, window, ticks)
  if ticks == window then return ms end
  local windows = math.floor(ms / window)
  return windows * ticks + math.floor((ms - windows * window) * ticks / window)
end

local function tickStart(tick, window, ticks)
  if ticks == window then return tick end
  local windows = math.floor(tick / ticks)
  return windows * window + math.ceil((tick - windows * ticks) * window / ticks)
end

local steps = { --[[STEPS]] }

local call, pack, read = redis.call, struct.pack, struct.unpack
local input = cjson.decode(ARGV[1])
local op, now, minTtl, quotas = input.op, input.now, input.minTtl, input.quotas
local policies, charges, units = input.policies, input.charges, input.units
local count = charges and #charges / 3 or #KEYS
local stepOf = {}
for quota, number in ipairs(input.steps) do stepOf[quota] = steps[number] end
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The key, the quota and the units of a charge, the i-th of its request.
local function chargeOf(at, i)
  if not charges then return at, i, units end
  return charges[3 * at - 2], charges[3 * at - 1], charges[3 * at]
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

-- Calls every command that another operation may call: where one of them fails, the probe fails
-- too, before it has charged anything. SET comes first: out of memory, Redis refuses a script's
-- first write only.
if op == 'probe' then
  local probe = KEYS[1]
  call('SET', probe, '', 'PX', minTtl)
  call('SETRANGE', probe, HEAD, 'x')
  call('GETRANGE', probe, HEAD, HEAD)
  call('MGET', probe)
  call('EXISTS', probe)
  call('PEXPIRE', probe, minTtl)
  call('DEL', probe)
  op = 'settle'
end

-- The states that one command can read, by key: those of steps that keep nothing behind them.
local raws = {}
do
  local plain, names, numbers = true, {}, {}
  for quota = 1, #quotas do plain = plain and not stepOf[quota].entries end
  if plain then
    raws = call('MGET', unpack(KEYS))
  else
    for at = 1, count do
      local k, quota = chargeOf(at, (at - 1) % policies + 1)
      if not stepOf[quota].entries then names[#names + 1], numbers[#numbers + 1] = KEYS[k], k end
    end
    local found = #names > 0 and call('MGET', unpack(names))
    for n = 1, #names do raws[numbers[n]] = found[n] end
  end
end

-- a, b, c, until when the key lives, until when it is blocked, and why it can't be read.
local function load(k, step)
  local raw = raws[k]
  if step.entries then
    raw = redis.pcall('GETRANGE', KEYS[k], HEAD, HEAD_END)
    if raw.err then return 0, 0, 0, 0, false, raw.err end
  end
  if raw and #raw >= STATE then
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

-- A key outlives its state by as much again, so that it is seldom that a write must renew its TTL.
local function save(k, step, wholeIn, livesUntil, a, b, c)
  local key = KEYS[k]
  if now + wholeIn <= livesUntil then
    call('SETRANGE', key, HEAD, pack('<ddd', a, b, c))
  else
    local ttl = math.max(wholeIn * 2, minTtl)
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

if op == 'settle' then
  local chargedAt = input.chargedAt < 0 and now or input.chargedAt
  -- All are read before the first is written: a key that can't be read leaves none corrected.
  local states = {}
  for at = 1, count do
    local k, quota = chargeOf(at, at)
    states[at] = { load(k, stepOf[quota]) }
    if states[at][6] then return redis.error_reply(states[at][6]) end
  end
  for at = 1, count do
    local k, quota, delta = chargeOf(at, at)
    local step = stepOf[quota]
    local a, b, c, livesUntil, blockedUntil = unpack(states[at], 1, 5)
    if not blockedUntil then
      local _, wholeIn
      _, wholeIn, a, b, c = step.settle(quotas[quota], now, delta, chargedAt, a, b, c, KEYS[k])
      if wholeIn == 0 then
        call('DEL', KEYS[k])
      else
        save(k, step, wholeIn, livesUntil, a, b, c)
      end
    end
  end
  return { now }
end

local reply = { now }

-- Decides a charge and writes what the reply says of it: whether it is admitted, whether the clock
-- has stepped back behind the state, in how many ms the quota is whole, until when the key lives,
-- and the state as it is now, not charged yet.
local function decide(at, k, quota, cost)
  local step, n = stepOf[quota], 4 * at - 3
  local a, b, c, livesUntil, blockedUntil, failure = load(k, step)
  local ok, remaining, whole, wait, delay, rebased
  if failure or blockedUntil then
    -- What can't be read fails its own request only: none of that is charged.
    whole = blockedUntil and blockedUntil - now or 0
    reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = failure or REFUSED, 0, whole, whole
    return false, false
  end
  ok, remaining, whole, wait, delay, rebased, a, b, c =
    step.decide(quotas[quota], now, cost, a, b, c, KEYS[k])
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] =
    ok and delay or REFUSED, remaining, whole, wait
  return ok, rebased, whole, livesUntil, a, b, c
end

local function keep(k, quota, cost, whole, livesUntil, a, b, c)
  local step = stepOf[quota]
  a, b, c = step.commit(quotas[quota], now, cost, a, b, c, KEYS[k])
  save(k, step, whole, livesUntil, a, b, c)
end

local consumes = op == 'consume'

local function decideAlone(at)
  local k, quota, cost = chargeOf(at, 1)
  local ok, rebased, whole, livesUntil, a, b, c = decide(at, k, quota, cost)
  if consumes and ((ok and cost > 0) or rebased) then
    keep(k, quota, ok and cost or 0, whole, livesUntil, a, b, c)
  end
end

-- All charges of a request are decided before the first is kept.
local function decideTogether(first)
  local decided, all = {}, true
  for i = 1, policies do
    local k, quota, cost = chargeOf(first + i - 1, i)
    decided[i] = { decide(first + i - 1, k, quota, cost) }
    if not decided[i][1] then all = false end
  end
  for i = 1, policies do
    local k, quota, cost = chargeOf(first + i - 1, i)
    local ok, rebased, whole, livesUntil, a, b, c = unpack(decided[i], 1, 7)
    if not all then cost = 0 end
    if ok and not all then
      -- Another policy refused: this one is shown, and kept, as it stands.
      ok, rebased, whole, livesUntil, a, b, c = decide(first + i - 1, k, quota, 0)
    end
    if consumes and (cost > 0 or rebased) then
      keep(k, quota, cost, whole, livesUntil, a, b, c)
    end
  end
end

local decideRequest = policies == 1 and decideAlone or decideTogether
for first = 1, count, policies do decideRequest(first) end

return reply
