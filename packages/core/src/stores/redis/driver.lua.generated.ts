// Generated from driver.lua by scripts/generate-lua.mjs. Do not edit.
export default `-- Runs the steps of the algorithms on the states in Redis. Composed by script.ts: the steps stand
-- where this file says STEPS.
--
-- KEYS    for each request one key per policy, all of one request in one slot
-- ARGV[1] JSON: op        'consume' | 'peek' | 'settle' | 'block' | 'reset'
--               now       ms, or -1: the server's clock
--               policies  keys per request
--               steps     for each quota, which of the steps it takes (from 1)
--               quotas    for each quota, its numbers as its step documents them
--               charges   for each key two numbers: its quota (from 1) and the units (consume,
--                         peek: the cost; settle: the difference; block: ms)
--               chargedAt settle: when the charge was made, ms, or -1: now
--               minTtl    ms: the least that a key lives after a write
-- returns integers: now (ms), then for each key of consume and peek, and of settle as it stands then:
--         admitted (1, 0), remaining (units), reset, wait (-1: never), delay (ms)
--         A key that can't be read has what Redis says of it in place of \`admitted\`.
--
-- A state is 32 bytes: three integers a, b, c and the time (ms) until which the key lives, as
-- little-endian doubles; a step may keep more behind them. A blocked key holds 8 bytes instead:
-- the time (ms) until which it is blocked.
local NEVER, MAX_EXACT, STATE = -1, 9007199254740991, 32
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
local op, now, minTtl, quotas, charges = input.op, input.now, input.minTtl, input.quotas, input.charges
local stepOf = {}
for quota, number in ipairs(input.steps) do stepOf[quota] = steps[number] end
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A key outlives its state by as much again, so that it is seldom that a write must renew its TTL.
local function save(step, key, now, wholeIn, livesUntil, a, b, c)
  if now + wholeIn <= livesUntil then
    call('SETRANGE', key, HEAD, pack('<ddd', a, b, c))
    return
  end
  local ttl = math.max(wholeIn * 2, minTtl)
  local state = pack('<dddd', a, b, c, now + ttl)
  if step.commit then
    call('SETRANGE', key, HEAD, state)
    call('PEXPIRE', key, ttl)
  else
    call('SET', key, state, 'PX', ttl)
  end
end

local function load(step, key)
  local raw
  if step.commit then raw = call('GETRANGE', key, HEAD, HEAD_END) else raw = call('GET', key) end
  if not raw or #raw == 0 then return 0, 0, 0, 0 end
  if #raw == 8 then
    local blockedUntil = read('<d', raw)
    return 0, 0, 0, 0, blockedUntil > now and blockedUntil
  end
  local a, b, c, livesUntil = read('<dddd', raw)
  return a, b, c, livesUntil
end

if op == 'reset' then
  for i = 1, #KEYS do call('DEL', KEYS[i]) end
  return { now }
end

if op == 'block' then
  for i = 1, #KEYS do
    local ms = charges[2 * i]
    call('SET', KEYS[i], pack('<d', now + ms), 'PX', math.max(ms, minTtl))
  end
  return { now }
end

if op == 'settle' then
  local chargedAt = input.chargedAt < 0 and now or input.chargedAt
  -- All are read before the first is written: a key that can't be read leaves none corrected.
  local states = {}
  for i = 1, #KEYS do
    states[i] = { load(stepOf[charges[2 * i - 1]], KEYS[i]) }
  end
  for i = 1, #KEYS do
    local key, quota = KEYS[i], charges[2 * i - 1]
    local step = stepOf[quota]
    local a, b, c, livesUntil, blockedUntil = unpack(states[i])
    if not blockedUntil then
      local _, wholeIn
      _, wholeIn, a, b, c =
        step.settle(quotas[quota], now, charges[2 * i], chargedAt, a, b, c, key)
      if wholeIn == 0 then
        call('DEL', key)
      else
        save(step, key, now, wholeIn, livesUntil, a, b, c)
      end
    end
    charges[2 * i] = 0
  end
end

local policies, reply = input.policies, { now }
local as, bs, cs, lives, wholes, oks, aheads = {}, {}, {}, {}, {}, {}, {}

-- Decides the charge of KEYS[at], the i-th of its request, and writes what the reply says of it.
local function decide(at, i, cost)
  local quota = charges[2 * at - 1]
  local step = stepOf[quota]
  local key = KEYS[at]
  local a, b, c, livesUntil, blockedUntil = load(step, key)
  local ok, remaining, whole, wait, delay, ahead
  if blockedUntil then
    ok, ahead, remaining, delay = false, false, 0, 0
    whole = blockedUntil - now
    wait = whole
  else
    ok, remaining, whole, wait, delay, ahead, a, b, c =
      step.decide(quotas[quota], now, cost, a, b, c, key)
  end
  as[i], bs[i], cs[i], lives[i], wholes[i], oks[i], aheads[i] =
    a, b, c, livesUntil, whole, ok, ahead
  local n = 5 * at - 4
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5] =
    ok and 1 or 0, remaining, whole, wait, delay
  return ok
end

for first = 1, #KEYS, policies do
  local all = true
  for i = 1, policies do
    local at = first + i - 1
    local ran, ok = pcall(decide, at, i, charges[2 * at])
    if not ran then
      -- Fails its own request only: none of it is charged.
      local n, failure = 5 * at - 4, ok
      if type(failure) == 'table' then failure = failure.err end
      reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5] = failure, 0, 0, 0, 0
      ok, oks[i], aheads[i] = false, false, false
    end
    if not ok then all = false end
  end
  for i = 1, policies do
    local at = first + i - 1
    if not all and oks[i] then
      -- Another policy refused: this one is shown as it stands.
      decide(at, i, 0)
    elseif op == 'consume' then
      local cost = all and charges[2 * at] or 0
      if cost > 0 or aheads[i] then
        local quota = charges[2 * at - 1]
        local step = stepOf[quota]
        local a, b, c = as[i], bs[i], cs[i]
        if step.commit then
          a, b, c = step.commit(quotas[quota], now, cost, a, b, c, KEYS[at])
        end
        save(step, KEYS[at], now, wholes[i], lives[i], a, b, c)
      end
    end
  end
end

return reply
`
