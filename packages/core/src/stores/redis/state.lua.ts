import { type LuaStep, OUTCOME, STATE_BYTES } from '../../algorithms/lua-step.ts'
import { TICKS_LUA, ticksLua } from '../../algorithms/ticks.lua.generated.ts'
import { OWN_PREFIX } from '../inspection/keyspace-name.ts'
import { GRANT_NUMBERS, OWN_NUMBERS } from '../rules/own-bytes.ts'

// The parts that the scripts on states share. A state is 32 bytes: three integers a, b, c and the time
// (ms) until which its key lives, as little-endian doubles. A step may keep entries behind them.
//
// A client's own limit, top-ups and block in a policy are a record, for any window and algorithm: see `encodeOwn`. A
// state whose client has one says so by half a millisecond in that time. So a record is read only where there is
// one, and once where a state is new.

/** The step of one policy, as a script contains it. */
export interface ScriptStep {
  /** Whether it is charged on a refusal: then no client has a record. */
  readonly onRefusal?: boolean
  readonly step: LuaStep
  /** How many of its constants it gets: the last one may be left out, see `LuaStep.constants`. */
  readonly given: number
  /** With how many characters the name of its keyspace ends the names of its keys, and with how many that of its policy. */
  readonly spaceLength: number
  readonly nameLength: number
}

/** Bytes of a record before its top-ups, and of each of these. */
export const OWN_BYTES = 8 * OWN_NUMBERS
export const GRANT_BYTES = 8 * GRANT_NUMBERS

/** The functions that the steps call. `call` and `pack` are used by every part of a script. */
export function functionsOf(steps: readonly ScriptStep[]): string {
  const entries = new Set(steps.map(({ step }) => step.entries?.functions ?? ''))
  // Lua takes longer to find a global than a local variable.
  return `local KEYS, redis, struct = KEYS, redis, struct
local call, pack = redis.call, struct.pack
${steps.some(({ step }) => step.constants.includes('ticks')) ? TICKS_LUA : ''}
${steps.some(countsTicks) ? ticksLua : ''}
${[...entries].join('')}`
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

/** Sets the numbers of a claim. @param next Lua expression of the next number */
export function claimOf(
  numbers: Readonly<Record<string, number>> = {},
  next: () => string,
): string {
  const names = Object.keys(numbers)
  return names.length === 0 ? '' : `local ${names.join(', ')} = ${names.map(next).join(', ')}`
}

/** The error for a key with other bytes. The first number of a state is 0 or more. */
export const NO_STATE = "'ERR a key that holds no state'"

/**
 * Reads the state of `key` into `raw`, and from there into `a`, `b`, `c` and `livesUntil`. Of a blocked key `a`
 * is -1, and `raw` what the reply says of it. Where the client has something of its own, `own` is what
 * {@link useOwn} needs, and the constants are those of its own limit.
 *
 * @param known Lua expression of what has been read already, or nil
 * @param unreadable statements that use `problem`; they may leave the script
 */
export function readState(each: ScriptStep, known: string, unreadable: string): string {
  const { step, onRefusal } = each
  const command = step.entries ? `'GETRANGE', key, '0', '${STATE_BYTES - 1}'` : "'GET', key"
  return `
    raw = ${known}redis.pcall(${command})
    ${step.check === undefined ? '' : `local problem${step.check}\nif problem then raw = { problem = problem } end`}
    local hasOwn
    if raw and #raw == ${STATE_BYTES} then
      a, b, c, livesUntil = struct.unpack('<dddd', raw)
      hasOwn = livesUntil % 1 > 0
    else
      a, b, c, livesUntil = 0, 0, 0, 0
      if not raw or raw == '' then
        raw = ('\\0'):rep(${STATE_BYTES})
        hasOwn = true
      else
        local problem = raw.err or raw.problem or ${NO_STATE}
        ${unreadable}
      end
    end
    ${onRefusal ? '' : readOwn(each, unreadable)}`
}

/**
 * Reads the record of a client. What has ended is 0 in `own`. `isOver`: all of it has, and the next write of the
 * state deletes it; before that, a clock that steps back makes it apply again. `granted`: the units of its top-ups,
 * `grantEnds`: when the first of these ends.
 *
 * It stands in the script for each policy: to make a function takes each request 0.2 µs, whether its client has a
 * record or not.
 */
function readOwn(each: ScriptStep, unreadable: string): string {
  return `
    if hasOwn then
      local name = string.sub(key, 1, -${each.spaceLength + 1}) .. '${OWN_PREFIX}' .. string.sub(key, -${each.nameLength})
      local value = redis.pcall('GET', name)
      if not value then
        if livesUntil > 0 then livesUntil = -1 end
      elseif value.err or #value < ${OWN_BYTES} or (#value - ${OWN_BYTES}) % ${GRANT_BYTES} ~= 0 then
        local problem = value.err or ${NO_STATE}
        ${unreadable}
      else
        local blockedUntil, ends, ownUnits, burst, delay = struct.unpack('<ddddd', value)
        local granted, grantEnds = 0, 0
        for at = ${OWN_BYTES + 1}, #value, ${GRANT_BYTES} do
          local time, units = struct.unpack('<dd', value, at)
          if time > now then
            granted = granted + units
            if grantEnds == 0 or time < grantEnds then grantEnds = time end
          end
        end
        if ends <= now then ends = 0 end
        local blockedMs = math.max(0, blockedUntil - now)
        own = { name = name, mark = 0, isOver = blockedMs == 0 and ends == 0 and granted == 0 }
        ${takeOwn(each)}
        if blockedMs > 0 then
          a, raw = -1, pack('<dddd', 0, blockedMs, 0, ${OUTCOME.blocked} + own.mark)
        else
          raw = pack('<dddd', a, b, c, own.mark)
        end
      end
    end`
}

/**
 * Takes the client's own limit in place of the constants. What the reply says of it comes behind all states: until
 * when it has a limit of its own, that limit, its burst and delay, and the units of its top-ups and when the first of
 * these ends.
 */
function takeOwn(each: ScriptStep): string {
  const { constants, grantEnd, own = '' } = each.step
  const kept = ownConstants(each.step).join(', ')
  return `
        if ends > 0${grantEnd ? ' or granted > 0' : ''} then
          owns = (owns or '') .. pack('<dddddd', ends, ownUnits, burst, delay, granted, grantEnds)
          own.mark = -1
          local ownLimit, ownBurst, ownDelay = ${grantEnd ? `(ends > 0 and ownUnits or ${constants[0]}) + granted` : 'ownUnits'}, burst, delay
          ${own.includes('greatestCommonDivisor') ? `if not greatestCommonDivisor then ${ticksLua} end` : ''}
          ${own}
          ${constants.includes('ticks') ? `if ticks > 0 and not tickAt then ${ticksLua} end` : ''}
          own.constants = { ${kept} }
        end`
}

/** The constants that may be those of a client's own limit. */
function ownConstants({ constants, constantsMove }: LuaStep): readonly string[] {
  return constantsMove ? constants.slice(0, 1) : constants
}

/** Sets the constants of a client's own limit again. */
export function useOwn(each: ScriptStep): string {
  if (each.onRefusal) return ''
  const constants = ownConstants(each.step)
  return `
    if own and own.mark < 0 then ${constants.join(', ')} = unpack(own.constants, 1, ${constants.length}) end`
}

/**
 * Writes the state of `key`, which is full in `fullIn` ms. The key outlives it. What is held of it, `held`, lives as long.
 *
 * @param minTtl Lua expression: the least that it lives after a write, ms
 */
export function writeState({ step, onRefusal }: ScriptStep, minTtl: string): string {
  const holds = step.entries?.renew !== undefined
  const write = step.entries
    ? `call('SETRANGE', key, '0', state)
        call('PEXPIRE', key, ttl)`
    : "call('SET', key, state, 'PX', ttl)"
  return `
      ${
        onRefusal
          ? ''
          : `if own and own.isOver then
        call('DEL', own.name)
        own, livesUntil = nil, 0
      end`
      }
      if now + fullIn <= livesUntil then
        call('SETRANGE', key, '0', pack('<ddd', a, b, c))
        ${holds ? "if heldNew[held] then call('PEXPIRE', held, string.format('%.0f', livesUntil - now)) end" : ''}
      else
        local keepFor = fullIn
        ${step.keep ?? ''}
        local ttl = keepFor + ${minTtl}
        ${holds ? "call('PEXPIRE', held, string.format('%.0f', ttl))" : ''}
        local state = pack('<dddd', a, b, c, ${onRefusal ? 'now + ttl' : `own and ${marked('now + ttl')} or now + ttl`})
        ttl = string.format('%.0f', ttl)
        ${write}
      end`
}

/**
 * The time until which a key lives, as a state has it whose client has a record: with half a millisecond, for which
 * doubles have room below 2^52.
 *
 * @param livesUntil Lua expression, ms
 */
export function marked(livesUntil: string): string {
  return `math.min(${livesUntil}, ${2 ** 52 - 1}) + 0.5`
}

function countsTicks({ step, given }: ScriptStep): boolean {
  return step.constants[given - 1] === 'ticks'
}
