import { type LuaStep, STATE_BYTES } from '../../algorithms/lua-step.ts'
import { ticksLua } from '../../algorithms/ticks.lua.ts'

// What the scripts on states have in common. A state is 32 bytes: three integers a, b, c and the time
// (ms) until which its key lives, as little-endian doubles. A step may keep entries behind them. A
// blocked key holds 8 bytes instead: the time (ms) until which it is blocked.

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
${steps.some(countsTicks) ? ticksLua : ''}${[...entries].join('')}`
}

/** Sets `now` to the server's time, unless it is set. */
export const SERVER_TIME = `
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + time[2] / 1000
  now = now - now % 1
end`

/** @param values Lua expressions, of which the last one may be 0 for ticks that the limit does not need */
export function constantsOf(each: ScriptStep, values: readonly string[]): string {
  const { constants } = each.step
  const line = `local ${constants.join(', ')} = ${values.join(', ')}`
  return countsTicks(each) ? `${line}\n    if ticks == 0 then ticks = nil end` : line
}

/** What is said of a key with other bytes. The first number of a state is 0 or more. */
export const NO_STATE = "'ERR a key that holds no state'"

/**
 * Reads the state of `key` into `raw`, and from there into `a`, `b`, `c` and `livesUntil`. Of a blocked key `a`
 * is -1, and `raw` what the reply says of it.
 *
 * @param known Lua expression of what has been read already, or nil
 * @param unreadable statements that use `problem`; they may leave the script
 */
export function readState({ step }: ScriptStep, known: string, unreadable: string): string {
  const command = step.entries ? `'GETRANGE', key, '0', '${STATE_BYTES - 1}'` : "'GET', key"
  return `
    raw = ${known}redis.pcall(${command})
    ${step.check === undefined ? '' : `local problem${step.check}\nif problem then raw = { problem = problem } end`}
    if raw and #raw == ${STATE_BYTES} then
      a, b, c, livesUntil = struct.unpack('<dddd', raw)
    else
      a, b, c, livesUntil = 0, 0, 0, 0
      if not raw or raw == '' then
        raw = ('\\0'):rep(${STATE_BYTES})
      elseif #raw == 8 then
        local blockedMs = struct.unpack('<d', raw) - now
        raw = ('\\0'):rep(${STATE_BYTES})
        if blockedMs > 0 then a, raw = -1, pack('<dddd', -1, blockedMs, blockedMs, 1) end
      else
        local problem = raw.err or raw.problem or ${NO_STATE}
        ${unreadable}
      end
    end`
}

/**
 * Writes the state of `key`, which is whole in `wholeIn` ms. The key outlives it.
 *
 * @param minTtl Lua expression: the least that it lives after a write, ms
 */
export function writeState({ step }: ScriptStep, minTtl: string): string {
  const write = step.entries
    ? `call('SETRANGE', key, '0', state)
        call('PEXPIRE', key, ttl)`
    : "call('SET', key, state, 'PX', ttl)"
  return `
      if now + wholeIn <= livesUntil then
        call('SETRANGE', key, '0', pack('<ddd', a, b, c))
      else
        local keepFor = wholeIn
        ${step.keep ?? ''}
        local ttl = keepFor + ${minTtl}
        local state = pack('<dddd', a, b, c, now + ttl)
        ttl = string.format('%.0f', ttl)
        ${write}
      end`
}

function countsTicks({ step, given }: ScriptStep): boolean {
  return step.constants[given - 1] === 'ticks'
}
