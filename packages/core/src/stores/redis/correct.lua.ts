import { OUTCOME } from '../../algorithms/lua-step.ts'
import {
  claimOf,
  constantsOf,
  functionsOf,
  readState,
  type ScriptStep,
  SERVER_TIME,
  useOwn,
  writeState,
} from './state.lua.ts'

// The scripts that change states without a decision. Each begins with ARGV[1] the time (ms; -1: the
// server's) and ARGV[2] the least that a key lives after a write (ms).

/** Makes numbers of the arguments, and sets the time. */
export const ARGUMENTS = `
for i = 1, #ARGV do ARGV[i] = ARGV[i] + 0 end
local now, minTtl, owns = ARGV[1], ARGV[2]
if now < 0 then now = nil end
${SERVER_TIME}`

/**
 * Corrects the charges of a request, but those of blocked keys.
 *
 * KEYS: one for each policy. ARGV[3]: when the charges were made (ms; -1: now). ARGV[4]: 1 if it replies, else 0. Then
 * for each policy its constants, by how much the charge is corrected (units) and the numbers of the claim (see
 * `LuaStep.claims`).
 *
 * It replies with bytes: the time (ms, a little-endian double), then 32 for each policy: the state as it was read. Of a
 * step with `LuaEntries.show`: what remained before, what remains (units; below 0: a debt), until the quota is full (ms).
 * Then 16 for each policy with entries but without `show`, as said there. Clients' own limits follow as in decide.lua.ts.
 */
export function settleLua(steps: readonly ScriptStep[]): string {
  let last = 4
  let telling = 0
  const next = () => `ARGV[${++last}]`
  const policies = steps.map((each, i) => {
    const constants = constantsOf(each, Array.from({ length: each.given }, next))
    const delta = next()
    const claim = claimOf(each.step.claims?.settle, next)
    const { entries } = each.step
    const place = entries && entries.show === undefined ? ++telling : 0
    return { ...each, number: i + 1, place, constants, delta, claim }
  })
  // All are read before the first is written: a key that can't be read leaves none corrected.
  const read = policies.map((policy) => {
    const { number, constants } = policy
    return `
do
  local key, raw, a, b, c, livesUntil, own = KEYS[${number}]
  ${constants}
  ${readState(policy, '', 'return redis.error_reply(problem)')}
  read[${number}] = { ${STATE.join(', ')} }
  raws[${number}] = raw
end`
  })
  const corrected = policies.map((policy) => {
    const { number, place, constants, delta, claim, step } = policy
    return `
if read[${number}][1] >= 0 then
  local key, ${STATE.join(', ')} = KEYS[${number}], unpack(read[${number}], 1, ${STATE.length})
  ${constants}
  ${useOwn(policy)}
  local delta = ${delta}
  ${claim}
  local rebased, fullIn, raw, corrected, before
  ${step.enter ?? ''}
  ${shown(policy, 'before = remaining')}
  ${step.settle ?? ''}
  ${shown(policy, `raws[${number}] = pack('<dddd', before, remaining - excess, resetIn, ${OUTCOME.decided} + (own and own.mark or 0))`)}
  ${place > 0 ? `raws[${number}], deltas[${place}] = raw, corrected` : ''}
  ${KEEP(policy)}
end`
  })
  return `${functionsOf(steps)}
${ARGUMENTS}
local chargedAt, isShown, read, raws, deltas = ARGV[3] < 0 and now or ARGV[3], ARGV[4] > 0, {}, {}, {}
${telling > 0 ? `for n = 1, ${telling} do deltas[n] = pack('<dd', 0, now) end` : ''}
${read.join('')}
${corrected.join('')}
if isShown then return pack('<d', now) .. table.concat(raws) .. table.concat(deltas) .. (owns or '') end`
}

/** Tells how a step that keeps entries stands: of any other the reply has the state. */
function shown({ step }: ScriptStep, use: string): string {
  if (step.entries?.show === undefined) return ''
  return `
  if isShown then
    local cost, admitted, remaining, excess, resetIn, wait = 0
    ${step.decide}
    ${step.entries.show}
    ${use}
  end`
}

/**
 * Holds what is claimed anew. A key that is blocked or can't be read is left as it is.
 *
 * KEYS: each once. ARGV from 3 on, for each key: the constants of its limit, how many claims, and their
 * first numbers.
 */
export function renewLua(each: ScriptStep): string {
  const { step, given } = each
  return `${functionsOf([each])}
${ARGUMENTS}
local at = 2
for k = 1, #KEYS do
  local key, raw, a, b, c, livesUntil, own = KEYS[k]
  ${constantsOf(each, constantArguments(each, 1))}
  at = at + ${given + 1}
  local slots = { unpack(ARGV, at + 1, at + ARGV[at]) }
  at = at + #slots
  ${readState(each, '', 'a = -1')}
  if a >= 0 then
    local rebased, fullIn
    ${step.enter ?? ''}
    ${step.entries?.renew ?? ''}
    ${KEEP(each)}
  end
end`
}

/** The constants of a step among the arguments, the first of which is number `at + from`. */
export function constantArguments({ given }: ScriptStep, from: number): string[] {
  return Array.from({ length: given }, (_, n) => `ARGV[at + ${from + n}]`)
}

const STATE = ['a', 'b', 'c', 'livesUntil', 'own']

/** Keeps a corrected state, unless its quota is full. */
const KEEP = (each: ScriptStep) => `
    ${each.step.full ?? ''}
    if fullIn == 0 then
      call('DEL', key${each.step.entries?.renew ? ', heldKey(key)' : ''})
    else
      ${writeState(each, 'minTtl')}
    end`

/**
 * Calls every command that a script may call, on KEYS[1], a key that no policy has: where one of them
 * fails, so does this. SET comes first: out of memory, Redis refuses a script's first write only.
 * ARGV[1]: how long that key lives if the script is interrupted (ms). ARGV[2]: 1 where anything is held.
 */
export const PROBE = `local call, probe = redis.call, KEYS[1]
call('SET', probe, '', 'PX', ARGV[1])
call('SETRANGE', probe, '0', 'x')
call('GETRANGE', probe, '0', '0')
call('MGET', probe)
call('GET', probe)
call('PEXPIRE', probe, ARGV[1])
call('TIME')
call('DEL', probe)
if ARGV[2] == '1' then
  call('ZADD', probe, '1', 'x')
  call('ZSCORE', probe, 'x')
  call('ZCOUNT', probe, '1', '1')
  call('ZRANGE', probe, '0', '0')
  call('ZREM', probe, 'x')
end`
