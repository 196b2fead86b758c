import { type LuaStep, STATE_BYTES } from '../../algorithms/lua-step.ts'
import { TICKS_LUA, ticksLua } from '../../algorithms/ticks.lua.generated.ts'
import { OWN } from '../inspection/keyspace-name.ts'
import { GRANT_NUMBERS, OWN_NUMBERS } from '../rules/own-bytes.ts'

// What the scripts on states have in common. A state is 32 bytes: three integers a, b, c and the time
// (ms) until which its key lives, as little-endian doubles. A step may keep entries behind them.
//
// What a client has of its own in a policy is a record, whatever the window and the algorithm: see `encodeOwn`. A
// state whose client has one says so by half a millisecond in that time. So a record is read only where there is
// one, and once where a state is new.

/** The step of one policy, or of the ban behind the policies, as a script contains it. */
export interface ScriptStep {
  readonly isBan?: boolean
  readonly step: LuaStep
  /** How many of its constants it gets: the last one may be left out, see `LuaStep.constants`. */
  readonly given: number
  /** With how many characters the name of its policy ends the names of its keys. */
  readonly nameLength: number
}

/** Bytes of a record before its top-ups, and of each of these. */
export const OWN_BYTES = 8 * OWN_NUMBERS
export const GRANT_BYTES = 8 * GRANT_NUMBERS

/** The functions that the steps call, and `ownOf`. `call` and `pack` are used by every part of a script. */
export function functionsOf(steps: readonly ScriptStep[]): string {
  const entries = new Set(steps.map(({ step }) => step.entries?.functions ?? ''))
  // Lua takes longer to find a global than a local variable.
  return `local KEYS, redis, struct = KEYS, redis, struct
local call, pack = redis.call, struct.pack
${steps.some(({ step }) => step.constants.includes('ticks')) ? TICKS_LUA : ''}
${steps.some(countsTicks) ? ticksLua : ''}
${OWN_OF}${[...entries].join('')}`
}

/** Sets `now` to the server's time, unless it is set. */
export const SERVER_TIME = `
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + time[2] / 1000
  now = now - now % 1
end`

/** @param values Lua expressions, without ticks where no limit needs them */
export function constantsOf(
  { step: { constants } }: ScriptStep,
  values: readonly string[],
): string {
  const all = constants.map((_, i) => values[i] ?? '0')
  return `local ${constants.join(', ')} = ${all.join(', ')}`
}

/** What is said of a key with other bytes. The first number of a state is 0 or more. */
export const NO_STATE = "'ERR a key that holds no state'"

/**
 * A function that reads the record of a state's client, or nil. What has ended is 0 in it. `isOver`: all of it has, and
 * the next write of the state deletes it; before that, a clock that steps back makes it apply again. `granted`: the
 * units of its top-ups, `grantEnds`: when the first of these ends.
 */
const OWN_OF = `
local function ownOf(key, nameLength, now)
  local name = string.match(key, '^.-{.-}:') .. '${OWN}' .. string.sub(key, -nameLength)
  local value = redis.pcall('GET', name)
  if not value then return end
  if value.err or #value < ${OWN_BYTES} or (#value - ${OWN_BYTES}) % ${GRANT_BYTES} ~= 0 then
    return { problem = value.err or ${NO_STATE} }
  end
  local blockedUntil, ends, limit, burst, delay = struct.unpack('<ddddd', value)
  local granted, grantEnds = 0, 0
  for at = ${OWN_BYTES + 1}, #value, ${GRANT_BYTES} do
    local time, units = struct.unpack('<dd', value, at)
    if time > now then
      granted = granted + units
      if grantEnds == 0 or time < grantEnds then grantEnds = time end
    end
  end
  if ends <= now then ends = 0 end
  local isOver = blockedUntil <= now and ends == 0 and granted == 0
  return { name = name, isOver = isOver, blockedMs = math.max(0, blockedUntil - now), ends = ends, limit = limit, burst = burst, delay = delay, granted = granted, grantEnds = grantEnds }
end`

/**
 * Reads the state of `key` into `raw`, and from there into `a`, `b`, `c` and `livesUntil`. Of a blocked key `a`
 * is -1, and `raw` what the reply says of it. Where the client has something of its own, `own` is what
 * {@link useOwn} needs, and the constants are those of its own limit.
 *
 * @param known Lua expression of what has been read already, or nil
 * @param unreadable statements that use `problem`; they may leave the script
 */
export function readState(each: ScriptStep, known: string, unreadable: string): string {
  const { step, isBan, nameLength } = each
  const command = step.entries ? `'GETRANGE', key, '0', '${STATE_BYTES - 1}'` : "'GET', key"
  const own = `own = ownOf(key, ${nameLength}, now)`
  return `
    raw = ${known}redis.pcall(${command})
    ${step.check === undefined ? '' : `local problem${step.check}\nif problem then raw = { problem = problem } end`}
    if raw and #raw == ${STATE_BYTES} then
      a, b, c, livesUntil = struct.unpack('<dddd', raw)
      ${isBan ? '' : `if livesUntil % 1 > 0 then\n${own}\nif not own then livesUntil = 0 end\nend`}
    else
      a, b, c, livesUntil = 0, 0, 0, 0
      if not raw or raw == '' then
        raw = ('\\0'):rep(${STATE_BYTES})
        ${isBan ? '' : own}
      else
        local problem = raw.err or raw.problem or ${NO_STATE}
        ${unreadable}
      end
    end
    ${isBan ? '' : takeOwn(each, unreadable)}`
}

/**
 * Takes what the client has of its own in place of the constants. What the reply says of it comes behind all states:
 * until when it has a limit of its own, that limit, its burst and delay, and the units of its top-ups and when the
 * first of these ends.
 */
function takeOwn(each: ScriptStep, unreadable: string): string {
  const { step } = each
  const constants = ownConstants(step)
  const [first] = step.constants
  const limit = step.grantEnd
    ? `(own.ends > 0 and own.limit or ${first}) + own.granted`
    : 'own.limit'
  const applied = `
        owns = (owns or '') .. pack('<dddddd', own.ends, own.limit, own.burst, own.delay, own.granted, own.grantEnds)
        own.mark = -1
        local ownLimit, ownBurst, ownDelay = ${limit}, own.burst, own.delay
        ${step.own?.includes('greatestCommonDivisor') ? `if not greatestCommonDivisor then ${ticksLua} end` : ''}
        ${step.own ?? ''}
        ${step.constants.includes('ticks') ? `if ticks > 0 and not tickAt then ${ticksLua} end` : ''}
        own.constants = { ${constants.join(', ')} }`
  return `
    if own and own.problem then
      local problem = own.problem
      ${unreadable}
    elseif own then
      own.mark = 0
      ${takesLimits(each) ? `if own.ends > 0${step.grantEnd ? ' or own.granted > 0' : ''} then ${applied} end` : ''}
      if own.blockedMs > 0 then
        a, raw = -1, pack('<dddd', -1, own.blockedMs, own.blockedMs, own.mark == 0 and 1 or -2)
      else
        raw = pack('<dddd', a, b, c, own.mark)
      end
    end`
}

/** Whether clients can have limits of their own: not where units are reserved. */
function takesLimits({ step, isBan }: ScriptStep): boolean {
  return isBan !== true && step.entries?.reserves !== true
}

/** The constants that may be those of a client's own limit. */
function ownConstants({ constants, constantsMove }: LuaStep): readonly string[] {
  return constantsMove ? constants.slice(0, 1) : constants
}

/** Sets the constants of a client's own limit again. */
export function useOwn(each: ScriptStep): string {
  if (!takesLimits(each)) return ''
  const constants = ownConstants(each.step)
  return `
    if own and own.mark < 0 then ${constants.join(', ')} = unpack(own.constants, 1, ${constants.length}) end`
}

/**
 * Writes the state of `key`, which is full in `fullIn` ms. The key outlives it.
 *
 * @param minTtl Lua expression: the least that it lives after a write, ms
 */
export function writeState({ step, isBan }: ScriptStep, minTtl: string): string {
  const holds = step.entries?.renew !== undefined
  const write = step.entries
    ? `call('SETRANGE', key, '0', state)
        call('PEXPIRE', key, ttl)`
    : "call('SET', key, state, 'PX', ttl)"
  return `
      ${
        isBan
          ? ''
          : `if own and own.isOver then
        call('DEL', own.name)
        own, livesUntil = nil, 0
      end`
      }
      if now + fullIn <= livesUntil then
        call('SETRANGE', key, '0', pack('<ddd', a, b, c))
        ${holds ? "call('PEXPIRE', heldKey(key), string.format('%.0f', livesUntil - now))" : ''}
      else
        local keepFor = fullIn
        ${step.keep ?? ''}
        local ttl = keepFor + ${minTtl}
        ${holds ? "call('PEXPIRE', heldKey(key), string.format('%.0f', ttl))" : ''}
        local state = pack('<dddd', a, b, c, now + ttl${isBan ? '' : ` + (own and ${MARK} or 0)`})
        ttl = string.format('%.0f', ttl)
        ${write}
      end`
}

/** What a state adds to the time until which its key lives, if its client has a record, ms. */
export const MARK = 0.5

function countsTicks({ step, given }: ScriptStep): boolean {
  return step.constants[given - 1] === 'ticks'
}
