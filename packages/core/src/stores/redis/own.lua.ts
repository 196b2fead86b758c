import { HELD_SUFFIX } from '../../algorithms/held/held.ts'
import { STATE_BYTES } from '../../algorithms/lua-step.ts'
import { MAX_GRANTS } from '../rules/own-terms.ts'
import { ARGUMENTS, constantArguments } from './correct.lua.ts'
import {
  constantsOf,
  functionsOf,
  GRANT_BYTES,
  marked,
  NO_STATE,
  OWN_BYTES,
  type ScriptStep,
} from './state.lua.ts'

// The scripts that change what a client has of its own. Each reads the record, changes it, and writes what has not
// ended.

/** Reads KEYS[i], the record, without the parts that have ended by `now`. */
const READ = `
  local blockedUntil, ownUntil, limit, burst, delay = 0, 0, -1, -1, -1
  local grants, granted, ends = {}, 0, 0
  local value = call('GET', KEYS[i])
  if value then
    if #value < ${OWN_BYTES} or (#value - ${OWN_BYTES}) % ${GRANT_BYTES} ~= 0 then
      return redis.error_reply(${NO_STATE})
    end
    blockedUntil, ownUntil, limit, burst, delay = struct.unpack('<ddddd', value)
    for from = ${OWN_BYTES + 1}, #value, ${GRANT_BYTES} do
      local time, units = struct.unpack('<dd', value, from)
      if time > now then
        grants[#grants + 1] = string.sub(value, from, from + ${GRANT_BYTES - 1})
        granted, ends = granted + units, math.max(ends, time)
      end
    end
  end`

const WRITE = `
  if blockedUntil <= now then blockedUntil = 0 end
  if ownUntil <= now then ownUntil, limit, burst, delay = 0, -1, -1, -1 end
  ends = math.max(ends, blockedUntil, ownUntil)
  value = struct.pack('<ddddd', blockedUntil, ownUntil, limit, burst, delay) .. table.concat(grants)
  if ends == 0 then call('DEL', KEYS[i])
  elseif ends == math.huge then call('SET', KEYS[i], value)
  else call('SET', KEYS[i], value, 'PX', string.format('%.0f', ends - now + minTtl)) end`

/** Marks the states from number `first` on, so that decisions read the record. Other keys stay as they are. */
const MARK_STATES = `
for n = first, #KEYS do
  local lives = redis.pcall('GETRANGE', KEYS[n], '${STATE_BYTES - 8}', '${STATE_BYTES - 1}')
  if type(lives) == 'string' and #lives == 8 then
    local livesUntil = struct.unpack('<d', lives)
    if livesUntil % 1 == 0 then
      call('SETRANGE', KEYS[n], '${STATE_BYTES - 8}', struct.pack('<d', ${marked('livesUntil')}))
    end
  end
end`

/**
 * Sets what a client has of its own, whatever its limit is.
 *
 * KEYS: its records, ARGV[3] of them, and its states. Then ARGV has for how long it is blocked (ms; 0: it is not), which
 * makes its quotas full; or until when it has a limit of its own (ms; 0: it has none), that limit, its burst and delay
 * (-1: left out). Of states of further versions of the application, it may have nothing: they are marked.
 *
 * Returns 0 where it has set a limit.
 */
export const OWN = `local call = redis.call
${ARGUMENTS}
local first, isBlock = ARGV[3] + 1, #ARGV == 4
for i = 1, ARGV[3] do
  ${READ}
  if isBlock then blockedUntil = ARGV[4] > 0 and now + ARGV[4] or 0
  else ownUntil, limit, burst, delay = unpack(ARGV, 4, 7) end
  ${WRITE}
end
if isBlock then
  for n = first, #KEYS do call('DEL', KEYS[n], KEYS[n] .. '${HELD_SUFFIX}') end
  return
end
${MARK_STATES}
if ARGV[3] > 0 then return 0 end`

/**
 * Adds units to a client's limit.
 *
 * KEYS: its record, and its states, the first of which may tell when the present window ends. ARGV from 3 on: the
 * constants of the policy's limit. Then until when (ms; 0: with the present window), how many, the two halves of the
 * id, the largest limit and the policy's.
 *
 * Returns 0: done; 1: the id is known; 2: there are too many top-ups; 3: the limit would be too large; 4: it has ended.
 */
export function grantLua(each: ScriptStep): string {
  const { step, given } = each
  const arg = (n: number) => `ARGV[${3 + given + n}]`
  return `${functionsOf([each])}
${ARGUMENTS}
local at, i, first = 2, 1, 2
${constantsOf(each, constantArguments(each, 1))}
do
  ${READ}
  local time, units, one, other = ${arg(0)}, ${arg(1)}, ${arg(2)}, ${arg(3)}
  if time == 0 then
    local problem
    ${step.check ?? ''}
    if problem then return redis.error_reply(problem) end
    local state = call('GETRANGE', KEYS[2], '0', '${STATE_BYTES - 1}')
    local a, b, c, rebased, ends = 0, 0, 0
    if #state == ${STATE_BYTES} then a, b, c = struct.unpack('<ddd', state) end
    ${step.enter ?? ''}
    ${step.grantEnd ?? ''}
    time = ends
  end
  if time <= now then return 4 end
  local base = ownUntil > now and limit or ${arg(5)}
  local id, same = pack('<dd', one, other)
  for n, known in ipairs(grants) do
    if string.sub(known, 17) == id then
      if one ~= 0 or other ~= 0 then return 1 end
      if struct.unpack('<d', known) == time then same = n end
    end
  end
  if not same and #grants == ${MAX_GRANTS} then return 2 end
  if granted + units > ${arg(4)} - base then return 3 end
  if same then
    local _, before = struct.unpack('<dd', grants[same])
    grants[same] = pack('<dd', time, before + units) .. id
  else
    grants[#grants + 1] = pack('<dd', time, units) .. id
  end
  ends = math.max(ends, time)
  ${WRITE}
end
${MARK_STATES}
return 0`
}
