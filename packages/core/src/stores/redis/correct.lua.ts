import {
  constantsOf,
  functionsOf,
  readState,
  type ScriptStep,
  SERVER_TIME,
  writeState,
} from './state.lua.ts'

// The scripts that change states without a decision. Each begins with ARGV[1] the time (ms; -1: the
// server's) and ARGV[2] the least that a key lives after a write (ms).

const ARGUMENTS = `
for i = 1, #ARGV do ARGV[i] = ARGV[i] + 0 end
local now, minTtl = ARGV[1], ARGV[2]
if now < 0 then now = nil end
${SERVER_TIME}`

/**
 * Corrects the charges of a request, but those of blocked keys.
 *
 * KEYS: one for each policy. ARGV[3]: when the charges were made (ms; -1: now). Then for each policy its
 * constants, by how much the charge is corrected (units) and, if it holds slots, the number of the
 * slot, or 0.
 */
export function settleLua(steps: readonly ScriptStep[]): string {
  let next = 1
  const policies = steps.map((each, i) => {
    const holdsSlots = each.step.entries?.renew !== undefined
    const from = next
    next += each.given + (holdsSlots ? 2 : 1)
    const constants = constantsOf(each, constantArguments(each, from))
    const delta = from + each.given
    return { ...each, number: i + 1, constants, delta, slot: holdsSlots ? delta + 1 : undefined }
  })
  // All are read before the first is written: a key that can't be read leaves none corrected.
  const read = policies.map((policy) => {
    const { number, constants } = policy
    return `
local ${STATE.map((name) => `${name}_${number}`).join(', ')}
do
  local key, raw, a, b, c, livesUntil = KEYS[${number}]
  ${constants}
  ${readState(policy, '', 'return redis.error_reply(problem)')}
  ${STATE.map((name) => `${name}_${number}`).join(', ')} = ${STATE.join(', ')}
end`
  })
  const corrected = policies.map((policy) => {
    const { number, constants, delta, slot, step } = policy
    return `
if a_${number} >= 0 then
  local key, ${STATE.join(', ')} = KEYS[${number}], ${STATE.map((name) => `${name}_${number}`).join(', ')}
  ${constants}
  local delta, slot = ARGV[at + ${delta}], ${slot === undefined ? 'nil' : `ARGV[at + ${slot}]`}
  local rebased, wholeIn
  ${step.enter ?? ''}
  ${step.settle ?? ''}
  ${KEEP(policy)}
end`
  })
  return `${functionsOf(steps)}
${ARGUMENTS}
local at, chargedAt = 3, ARGV[3] < 0 and now or ARGV[3]
${read.join('')}
${corrected.join('')}`
}

/**
 * Holds slots anew. A key that is blocked or can't be read is left as it is.
 *
 * KEYS: each once. ARGV from 3 on, for each key: the constants of its limit, how many slots, and their
 * numbers.
 */
export function renewLua(each: ScriptStep): string {
  const { step, given } = each
  return `${functionsOf([each])}
${ARGUMENTS}
local at = 2
for k = 1, #KEYS do
  local key, raw, a, b, c, livesUntil = KEYS[k]
  ${constantsOf(each, constantArguments(each, 1))}
  at = at + ${given + 1}
  local slots = { unpack(ARGV, at + 1, at + ARGV[at]) }
  at = at + #slots
  ${readState(each, '', 'a = -1')}
  if a >= 0 then
    local rebased, wholeIn
    ${step.enter ?? ''}
    ${step.entries?.renew ?? ''}
    ${KEEP(each)}
  end
end`
}

/** The constants of a step among the arguments, the first of which is number `at + from`. */
function constantArguments({ given }: ScriptStep, from: number): string[] {
  return Array.from({ length: given }, (_, n) => `ARGV[at + ${from + n}]`)
}

const STATE = ['a', 'b', 'c', 'livesUntil']

/** Keeps a corrected state, unless its quota is whole. */
const KEEP = (each: ScriptStep) => `
    ${each.step.whole ?? ''}
    if wholeIn == 0 then
      call('DEL', key)
    else
      ${writeState(each, 'minTtl')}
    end`

/** Blocks KEYS for ARGV[3] ms: then their quota is whole. */
export const BLOCK = `local call, pack = redis.call, struct.pack
${ARGUMENTS}
local ttl = string.format('%.0f', math.max(ARGV[3], minTtl))
for _, key in ipairs(KEYS) do call('SET', key, pack('<d', now + ARGV[3]), 'PX', ttl) end`

/** Makes the quota of KEYS whole. */
export const RESET = "redis.call('DEL', unpack(KEYS))"

/**
 * Calls every command that a script may call, on KEYS[1], a key that no policy has: where one of them
 * fails, so does this. SET comes first: out of memory, Redis refuses a script's first write only.
 * ARGV[1]: how long that key lives if the script is interrupted (ms).
 */
export const PROBE = `local call, probe = redis.call, KEYS[1]
call('SET', probe, '', 'PX', ARGV[1])
call('SETRANGE', probe, '0', 'x')
call('GETRANGE', probe, '0', '0')
call('MGET', probe)
call('GET', probe)
call('PEXPIRE', probe, ARGV[1])
call('TIME')
call('DEL', probe)`
