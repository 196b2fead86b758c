import { type LuaStep, STATE_BYTES } from '../../algorithms/lua-step.ts'
import { TICKS_LUA, ticksLua } from '../../algorithms/ticks.lua.generated.ts'
import { MAX_GRANTS } from '../rules/own-terms.ts'

// What the scripts on states have in common. A state is 32 bytes: three integers a, b, c and the time
// (ms) until which its key lives, as little-endian doubles. A step may keep entries behind them. A
// blocked key holds 8 bytes instead: the time (ms) until which it is blocked.
//
// Where a client has something of its own, that time is negative, as -1 or the time up to which its count is
// kept: the key lives as long as both of them. Then the terms follow, before the entries:
//
//   their size (bytes) and when the last of them ends (ms); until when it has a limit of its own (ms; 0: it has
//   none), and that limit (units), burst (units) and delay (ms), each -1 where there is none; its constants,
//   with 0 for ticks that it does not need; then each top-up: until when (ms), units, two halves of its id
//
// A blocked key keeps these: a is -1 then, and b the time until which it is blocked.

/** The step of one policy, or of the ban behind the policies, as a script contains it. */
export interface ScriptStep {
  readonly isBan?: boolean
  readonly step: LuaStep
  /** How many of its constants it gets: the last one may be left out, see `LuaStep.constants`. */
  readonly given: number
}

/** The functions that the steps call. `call` and `pack` are used by every part of a script. */
export function functionsOf(steps: readonly ScriptStep[]): string {
  const entries = new Set(steps.map(({ step }) => step.entries?.functions ?? ''))
  // Lua takes longer to find a global than a local variable.
  return `local KEYS, redis, struct = KEYS, redis, struct
local call, pack = redis.call, struct.pack
${steps.some(({ step }) => step.constants.includes('ticks')) ? TICKS_LUA : ''}
${steps.some(countsTicks) ? ticksLua : ''}
${steps.some(({ step }) => step.entries) ? `local head = ${STATE_BYTES}` : ''}${[...entries].join('')}`
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
 * Reads the state of `key` into `raw`, and from there into `a`, `b`, `c` and `livesUntil`. Of a blocked key `a`
 * is -1, and `raw` what the reply says of it. Where the client has something of its own, `own` is what
 * {@link useOwn} needs, and the constants are those of its own limit.
 *
 * @param known Lua expression of what has been read already, or nil
 * @param unreadable statements that use `problem`; they may leave the script
 */
export function readState(each: ScriptStep, known: string, unreadable: string): string {
  const { step } = each
  const command = step.entries ? `'GETRANGE', key, '0', '${STATE_BYTES - 1}'` : "'GET', key"
  // Of a step that keeps entries, the first 32 bytes have been read.
  const whole =
    step.entries && takesOwn(each)
      ? `if livesUntil < 0 then
        local terms = call('GETRANGE', key, '${STATE_BYTES}', '${STATE_BYTES + mostOf(each) - 1}')
        ${readOwn(each, unreadable)}
      end`
      : ''
  const longer =
    step.entries || !takesOwn(each)
      ? ''
      : `elseif #raw > ${STATE_BYTES} then
        a, b, c, livesUntil = struct.unpack('<dddd', raw)
        local terms = livesUntil < 0 and string.sub(raw, ${STATE_BYTES + 1}) or ''
        ${readOwn(each, unreadable)}`
  return `
    raw = ${known}redis.pcall(${command})
    ${step.check === undefined ? '' : `local problem${step.check}\nif problem then raw = { problem = problem } end`}
    if raw and #raw == ${STATE_BYTES} then
      a, b, c, livesUntil = struct.unpack('<dddd', raw)
      ${whole}
    else
      a, b, c, livesUntil = 0, 0, 0, 0
      if not raw or raw == '' then
        raw = ('\\0'):rep(${STATE_BYTES})
      elseif #raw == 8 then
        local blockedMs = struct.unpack('<d', raw) - now
        raw = ('\\0'):rep(${STATE_BYTES})
        if blockedMs > 0 then a, raw = -1, pack('<dddd', -1, blockedMs, blockedMs, 1) end
      ${longer}
      else
        local problem = raw.err or raw.problem or ${NO_STATE}
        ${unreadable}
      end
    end`
}

/** Whether clients can have something of their own: not in bans, nor where units are reserved. */
function takesOwn({ step, isBan }: ScriptStep): boolean {
  return isBan !== true && step.entries?.reserves !== true
}

/** The size of the terms that a client has of its own, the limit and its constants, bytes. */
export function ownBytes({ step }: Pick<ScriptStep, 'step'>): number {
  return 8 * (OWN_NUMBERS + ownConstants(step).length)
}

/** What stands before the constants. */
export const OWN_NUMBERS = 6
/** Bytes of a top-up behind them. */
export const GRANT_BYTES = 32

/** The constants that a client's own limit has: others do not depend on it. */
export function ownConstants(step: LuaStep): readonly string[] {
  const { constants, constantsMove, onlyLimitIsOwn } = step
  return constantsMove || onlyLimitIsOwn ? constants.slice(0, 1) : constants
}

export function mostOf(each: ScriptStep): number {
  return ownBytes(each) + MAX_GRANTS * GRANT_BYTES
}

/**
 * Reads `terms`. If they have ended, the state is written anew without them: `livesUntil` is 0 then. What the reply says
 * of the terms comes behind all states: until when it has a limit of its own, that limit, its burst and
 * delay, and the units of its top-ups and when the first of these ends.
 */
function readOwn(each: ScriptStep, unreadable: string): string {
  const { step } = each
  const constants = ownConstants(step)
  const own = constants.map((_, i) => `n${i + 1}`)
  const bytes = ownBytes(each)
  return `
        local size = #terms >= ${bytes} and struct.unpack('<d', terms) or 0
        local grants = (size - ${bytes}) / ${GRANT_BYTES}
        if grants >= 0 and grants % 1 == 0 and grants <= ${MAX_GRANTS} and #terms ${step.entries ? '>=' : '=='} size then
          local ends, ownUntil, ownLimit, ownBurst, ownDelay, ${own.join(', ')} = struct.unpack('<${'d'.repeat(5 + own.length)}', terms, 9)
          local granted, grantUntil = 0, 0
          for at = ${bytes + 1}, size, ${GRANT_BYTES} do
            local time, units = struct.unpack('<dd', terms, at)
            if time > now then
              granted = granted + units
              if grantUntil == 0 or time < grantUntil then grantUntil = time end
            end
          end
          if ownUntil > now then
            ${constants.join(', ')} = ${own.join(', ')}
          else
            ownUntil = 0
          end
          ${step.more === undefined ? '' : `if granted > 0 then ${step.more} end`}
          ${constants.includes('ticks') ? `if ticks > 0 and not tickAt then ${ticksLua} end` : ''}
          own = { ends = ends, head = ${STATE_BYTES} + size, mark = 0, ${constants.join(', ')} }
          if ownUntil > 0 or granted > 0 then
            own.mark = -1
            owns = (owns or '') .. pack('<dddddd', ownUntil, ownLimit, ownBurst, ownDelay, granted, grantUntil)
          end
          if a == -1 then
            local blockedMs = b - now
            a, b, c = 0, 0, 0
            if blockedMs > 0 then
              a, raw = -1, pack('<dddd', -1, blockedMs, blockedMs, own.mark == 0 and 1 or -2)
            end
          end
          if a >= 0 then
            raw = pack('<dddd', a, b, c, own.mark)
            if own.mark == 0 then livesUntil = 0 end
          end
        else
          local problem = ${NO_STATE}
          ${unreadable}
        end`
}

/** Sets the constants of a client's own limit again, and where the entries of its state begin. */
export function useOwn(each: ScriptStep): string {
  if (!takesOwn(each)) return ''
  const constants = ownConstants(each.step)
  return `
    if own then ${constants.join(', ')} = unpack(own, 1, ${constants.length}) end
    ${findEntries(each)}`
}

/** Sets where the entries of a state begin. */
export function findEntries(each: ScriptStep): string {
  return each.step.entries && takesOwn(each) ? `head = own and own.head or ${STATE_BYTES}` : ''
}

/** Takes terms that have ended out of the state, before the entries of a step change. */
export function dropEnded(each: ScriptStep): string {
  if (each.step.entries === undefined || !takesOwn(each)) return ''
  return `
        if own and own.mark == 0 then
          local entries = call('GETRANGE', key, head, '-1')
          call('SET', key, pack('<dddd', a, b, c, 0) .. entries, 'KEEPTTL')
          head, livesUntil = ${STATE_BYTES}, 0
        end`
}

/**
 * Writes the state of `key`, which is full in `fullIn` ms. The key outlives it.
 *
 * @param minTtl Lua expression: the least that it lives after a write, ms
 */
export function writeState(each: ScriptStep, minTtl: string): string {
  const { step } = each
  const hasOwn = takesOwn(each)
  const holds = step.entries?.renew !== undefined
  const write = step.entries
    ? `call('SETRANGE', key, '0', state)
        call('PEXPIRE', key, ttl)`
    : "call('SET', key, state, 'PX', ttl)"
  const keepOwn = `
        if livesUntil < 0 then
          call('SETRANGE', key, '0', pack('<dddd', a, b, c, -(now + ttl)))
          if own.ends < math.huge then
            ttl = math.max(ttl, own.ends - now + ${minTtl})
            call('PEXPIRE', key, string.format('%.0f', ttl))
          end
        else`
  return `
      if now + fullIn <= livesUntil or now + fullIn <= -livesUntil then
        call('SETRANGE', key, '0', pack('<ddd', a, b, c))
        ${holds ? "call('PEXPIRE', heldKey(key), string.format('%.0f', math.abs(livesUntil) - now))" : ''}
      else
        local keepFor = fullIn
        ${step.keep ?? ''}
        local ttl = keepFor + ${minTtl}
        ${holds ? "call('PEXPIRE', heldKey(key), string.format('%.0f', ttl))" : ''}
        ${hasOwn ? keepOwn : ''}
        local state = pack('<dddd', a, b, c, now + ttl)
        ttl = string.format('%.0f', ttl)
        ${write}
        ${hasOwn ? 'end' : ''}
      end`
}

function countsTicks({ step, given }: ScriptStep): boolean {
  return step.constants[given - 1] === 'ticks'
}
