import { OUTCOME } from '../../algorithms/lua-step.ts'
import {
  claimOf,
  constantsOf,
  functionsOf,
  NO_STATE,
  readState,
  type ScriptStep,
  SERVER_TIME,
  useOwn,
  writeState,
} from './state.lua.ts'

/** The fractions of units in use beyond a limit: the smallest that a double has between 1 and 2. */
export const EXCESS = 2 ** 52
/** How long a key lives at least after a write where no argument says it, ms. */
const MIN_TTL_MS = 1000

/**
 * The arguments of a script.
 *
 * `general`: for each request, or once if the requests are alike, for each policy: its constants, its cost
 * (units; of one that refuses nothing, beside others, -1 minus that) and the numbers of its claim (see
 * `LuaStep.claims`). Then, unless it is one request on the
 * server's clock: the time (ms; -1: the server's), the least that a key lives after a write (ms), how many
 * numbers each request has (0: they are alike), and 1 if a key comes twice.
 *
 * `usual`, where the requests are alike, every cost is 1, no key comes twice, and no state has entries:
 * for each policy its constants. Then, unless it is the server's: the time (ms), and the least that a key
 * lives after a write (ms).
 *
 * Constants: as `usual`, without those of the policies, which are these and stand in the text.
 */
export type Arguments = 'general' | 'usual' | readonly (readonly number[])[]

/**
 * The script that decides requests: all or nothing, a refusal uncharged, as `rules/decide-all.ts` has it.
 *
 * KEYS: of the requests, one after the other: one for each policy. What is charged on a refusal is the last one, and
 * has the client of the first.
 *
 * It returns bytes: the time (ms, a little-endian double), then 32 for each key: the state as it was read, all
 * zero for a key never seen. The step in TypeScript repeats the decision on it. Of a step that
 * keeps entries, what was decided: remaining (units; refused: -1 - remaining, and below that what is in use beyond the
 * limit, as a fraction), reset (ms), wait (ms; -1: never). Of a blocked key: 0, for how long (ms), 0. The last number says
 * which of these it is: see `OUTCOME`. Where the client has something of its own, 48 bytes about it stand behind all of
 * this, in the order of the keys: see `readOwn`. If there are keys that can't be read, it returns an array: the bytes,
 * and what Redis says of each.
 */
export function decideLua(steps: readonly ScriptStep[], args: Arguments): string {
  return script(steps, args, true)
}

/** The script that decides requests and changes nothing, with the same reply. */
export function peekLua(steps: readonly ScriptStep[]): string {
  return script(steps, 'general', false)
}

/**
 * The script that reads keys which do not depend on each other, and changes nothing: its text has each kind of policy
 * once, however many there are.
 *
 * KEYS: any. ARGV: for each key its numbers, as in `general`; then the time (ms; -1: the server's), and for each key
 * the kind of its policy, a character: FIRST_KIND is that of the first. The reply is that of `decideLua`.
 */
export function peekApartLua(kinds: readonly ScriptStep[]): string {
  const branches = kinds.map((kind, i) => {
    const { policies, size } = policiesOf([kind], 'general')
    return `if kind == ${FIRST_KIND + i} then
${alone(policies[0] as ScriptPolicy, false, '')}
at = at + ${size}
`
  })
  return `${functionsOf(kinds)}
local at, raws, now = 0, {}, ARGV[#ARGV - 1] + 0
if now < 0 then now = nil end
${SERVER_TIME}
local raw, failures, owns
for first = 1, #KEYS do
local kind = string.byte(ARGV[#ARGV], first)
${branches.join('else')}end
end${REPLY}`
}

/** The character of the first kind of policies: '0'. */
export const FIRST_KIND = 48

function script(steps: readonly ScriptStep[], args: Arguments, writes: boolean): string {
  const { policies, size } = policiesOf(steps, args)
  const isGeneral = args === 'general'
  const keepsEntries = steps.some(({ step }) => step.entries)
  const known = keepsEntries ? '{}' : "call('MGET', unpack(KEYS))"
  const minTtl = isGeneral ? 'minTtl' : `(ARGV[${size + 2}] or ${MIN_TTL_MS})`
  const countsRefusals = steps.some(({ onRefusal }) => onRefusal)
  return `${functionsOf(steps)}${countsRefusals ? CLIENT_OF : ''}
${isGeneral ? generalArguments(size) : `local now = ARGV[${size + 1}] and ARGV[${size + 1}] + 0`}
${SERVER_TIME}
local raw, failures, owns
local raws = #KEYS > 1 and ${isGeneral ? `(isRepeated and {} or ${known})` : known}
for first = 1, #KEYS, ${steps.length} do
${policies.length === 1 ? alone(policies[0] as ScriptPolicy, writes, minTtl) : together(policies, writes, minTtl)}
${isGeneral ? 'at = at + stride' : ''}
end${REPLY}`
}

const REPLY = `
local reply = pack('<d', now) .. (raws and table.concat(raws) or raw)
if owns then reply = reply .. owns end
if failures then return { reply, unpack(failures) } end
return reply`

/** One policy of the script, in Lua expressions. */
interface ScriptPolicy extends ScriptStep {
  readonly number: number
  /** The place of its key. */
  readonly at: string
  readonly constants: string
  readonly cost: string
  /** Sets the numbers of its claim. */
  readonly claim: string
  /** Whether it refuses nothing. */
  readonly refusesNothing: string | undefined
}

/** The policies, and how many arguments their numbers take. */
function policiesOf(steps: readonly ScriptStep[], args: Arguments) {
  let size = 0
  const isGeneral = args === 'general'
  const next = () => {
    size += 1
    return isGeneral ? `ARGV[at + ${size}] + 0` : `ARGV[${size}] + 0`
  }
  const policies = steps.map((each, i): ScriptPolicy => {
    const fixed = Array.isArray(args) ? (args[i] as readonly number[]).map(String) : undefined
    const constants = constantsOf(each, fixed ?? Array.from({ length: each.given }, next))
    const cost = isGeneral ? next() : '1'
    const claim = isGeneral ? claimOf(each.step.claims?.decide, next) : ''
    const refusesNothing = isGeneral && steps.length > 1 ? `${cost} < 0` : undefined
    const at = i === 0 ? 'first' : `first + ${i}`
    return { ...each, number: i + 1, at, constants, cost, claim, refusesNothing }
  })
  return { policies, size }
}

/** @param size how many numbers a request has */
function generalArguments(size: number): string {
  return `
local at, stride, minTtl, now, isRepeated = 0, 0, ${MIN_TTL_MS}
if #ARGV > ${size} then
  local last = #ARGV
  now, minTtl, stride, isRepeated = ARGV[last - 3] + 0, ARGV[last - 2] + 0, ARGV[last - 1] + 0, ARGV[last] == '1'
  if now < 0 then now = nil end
end`
}

/** Reads the client from the name of a key (see keys.ts): no client has a brace, but a policy may. */
const CLIENT_OF = `
local function clientOf(key) return string.match(key, '{.-}:') end`

/**
 * A key that can't be read fails its own request only. MGET returns nothing for a key that is no string: GET says what
 * it is.
 */
const UNREADABLE = `
        if raw.err and not problem:find('WRONGTYPE', 1, true) then return raw end
        failures = failures or {}
        failures[#failures + 1] = problem
        a, raw = -1, pack('<dddd', 0, 0, 0, ${OUTCOME.unreadable})`

/** Makes the cost that of a charge that refuses nothing. */
const UNSIGNED = 'if cost < 0 then cost = -1 - cost end'

/** Reads and decides a charge. */
function decide(policy: ScriptPolicy, inBlock: string): string {
  const { step, at, constants, cost, claim, refusesNothing } = policy
  return `
    local key, a, b, c, livesUntil, own = KEYS[${at}]
    ${constants}
    ${readState(policy, `raws and raws[${at}] or `, UNREADABLE)}
    local admitted, rebased
    if a >= 0 then
      local cost = ${cost}
      ${refusesNothing === undefined ? '' : UNSIGNED}
      ${claim}
      ${step.enter ?? ''}
      ${step.decide}
      ${inBlock}
    elseif a ~= -1 then
      local problem = ${NO_STATE}
      ${UNREADABLE}
    end
    if raws then raws[${at}] = raw end`
}

/** Sets `raw` to what the reply says of a step that keeps entries. */
function show({ step }: ScriptPolicy): string {
  if (step.entries?.show === undefined) return ''
  return `
      local remaining, excess, resetIn, wait
      ${step.entries.show}
      raw = pack('<dddd', admitted and remaining or -1 - remaining - excess / ${EXCESS}, resetIn, wait, ${OUTCOME.decided} + (own and own.mark or 0))`
}

/** Charges `cost` units, and keeps a state that has moved with the clock. */
function charge(policy: ScriptPolicy, minTtl: string): string {
  const { step } = policy
  return `
      if cost > 0 or rebased then
        local fullIn
        ${step.commit}
        ${step.full ?? ''}
        ${writeState(policy, minTtl)}
      end`
}

function alone(policy: ScriptPolicy, writes: boolean, minTtl: string): string {
  const charged = `
      if not admitted then cost = 0 end
      ${charge(policy, minTtl)}`
  return decide(policy, show(policy) + (writes ? charged : ''))
}

/** All charges of a request are decided before the first is made. */
function together(policies: readonly ScriptPolicy[], writes: boolean, minTtl: string): string {
  const isMany = policies.length > MAX_LOCAL_POLICIES
  const kept = (policy: ScriptPolicy) => keptNames(policy, isMany)
  const decided = policies.map((policy) => {
    const names = kept(policy).join(', ')
    return `
  ${isMany ? '' : `local ${names}`}
  do
    ${decide(policy, '')}
    ${names} = ${KEPT.join(', ')}
  end`
  })
  const admitted = policies.map((policy) => {
    const isAdmitted = kept(policy)[ADMITTED]
    return policy.refusesNothing
      ? `(${isAdmitted} or ${policy.refusesNothing} and ${NONE_FAILED})`
      : isAdmitted
  })
  const charged = policies.map((policy) => {
    if (!writes && policy.step.entries?.show === undefined) return ''
    const refused = policy.onRefusal
      ? `cost = ${refusal(policies, isMany)} and cost or 0`
      : `if not all ${policy.refusesNothing ? 'or not admitted ' : ''}then cost = 0 end`
    return `
  if ${kept(policy)[0]} >= 0 then
    local ${KEPT.join(', ')} = ${kept(policy).join(', ')}
    local cost, key, raw = ${policy.cost}, KEYS[${policy.at}]
    ${policy.refusesNothing === undefined ? '' : UNSIGNED}
    ${policy.claim}
    ${policy.constants}
    ${useOwn(policy)}
    ${policy.step.entries?.show ? `if admitted and not all then cost = 0 end${show(policy)}\nraws[${policy.at}] = raw` : ''}
    ${refused}
    ${writes ? charge(policy, minTtl) : ''}
  end`
  })
  return `
  local failed, kept = failures and #failures${isMany ? ', {}' : ''}
${decided.join('')}
  local all = ${admitted.join(' and ')}
${charged.join('')}`
}

/** Whether all keys of the request could be read. */
const NONE_FAILED = 'failed == (failures and #failures)'
/** The most policies whose values are local variables: Lua has room for 200. Beyond, a table has them. */
const MAX_LOCAL_POLICIES = 16
/** Variables of each policy that are kept until all have been decided. */
const KEPT = ['a', 'b', 'c', 'livesUntil', 'admitted', 'rebased', 'own']
const ADMITTED = 4

function keptNames({ number }: ScriptPolicy, isMany: boolean): string[] {
  return KEPT.map((name, i) => {
    return isMany ? `kept[${(number - 1) * KEPT.length + i + 1}]` : `${name}_${number}`
  })
}

/**
 * Whether a quota with the client of what is charged on a refusal refuses the request. What refuses itself counts
 * nothing, and neither does a request that fails, or a block.
 */
function refusal(policies: readonly ScriptPolicy[], isMany: boolean): string {
  const refusals = policies.slice(0, -1).map((policy) => {
    const [a] = keptNames(policy, isMany)
    const isEnforced = policy.refusesNothing ? ` and not (${policy.refusesNothing})` : ''
    const refuses = `${a} >= 0 and not ${keptNames(policy, isMany)[ADMITTED]}${isEnforced}`
    return `${refuses} and clientOf(KEYS[${policy.at}]) == clientOf(KEYS[first])`
  })
  return `admitted and not all and ${NONE_FAILED} and (${refusals.join(' or ')})`
}
