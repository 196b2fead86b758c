import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { LuaStep } from '../../algorithms/lua-step.ts'
import { type ChangedKey, keysOf } from '../rules/change.ts'
import { compileOwn } from '../rules/own-terms.ts'
import { type Renewal, renewalsOf } from '../rules/slots.ts'
import { halvesOf } from '../rules/state-bytes.ts'
import type { Change, Charge, GrantChange, Keyspace, OverrideChange } from '../store.ts'
import { Script, type ScriptCall, type ScriptTime } from './connection.ts'
import { BLOCK, RESET, renewLua, settleLua } from './correct.lua.ts'
import { decideLua, peekLua } from './decide.lua.ts'
import { ownLua } from './own.lua.ts'
import { ownConstants, type ScriptStep } from './state.lua.ts'

/**
 * How many scripts of this process have constants of limits in their text. All others have one text
 * for all limits. Servers keep 500 scripts of all processes together (Redis since 7.4), and receive
 * those that they have dropped again.
 */
const MAX_FIXED = 32

/** The scripts by their text, since many ledgers have the same. */
const scripts = new Map<string, Script>()
let fixedCount = 0

function scriptOf(text: string): Script {
  const script = scripts.get(text) ?? new Script(text)
  scripts.set(text, script)
  return script
}

const COMPOSERS = {
  general: (steps: readonly ScriptStep[]) => decideLua(steps, 'general'),
  usual: (steps: readonly ScriptStep[]) => decideLua(steps, 'usual'),
  peek: peekLua,
  settle: (steps: readonly ScriptStep[]) => settleLua(steps, false),
  raise: (steps: readonly ScriptStep[]) => settleLua(steps, true),
}

const block = new Script(BLOCK)
const reset = new Script(RESET)

/** A call, and the keys that it changes. */
interface ScriptRun {
  readonly call: ScriptCall
  readonly keys: readonly ChangedKey[]
}

/** The scripts of the policies of a ledger. A ban is the last of them. */
export class LedgerScripts {
  private readonly keyspaces: readonly Pick<Keyspace, 'algorithm' | 'limit'>[]
  private readonly hasBan: boolean
  private readonly known = new Map<string, Script>()
  /**
   * Requests of one turn may be several calls, if states have entries. One script decides them all:
   * where the server does not have it yet, they are sent again in their order.
   */
  private readonly isGeneral: boolean
  /** Decides usual requests with the limits of the keyspaces, which stand in its text. Null: there is none. */
  private fixed: Script | null | undefined

  constructor(keyspaces: readonly Pick<Keyspace, 'algorithm' | 'limit'>[], hasBan = false) {
    this.keyspaces = keyspaces
    this.hasBan = hasBan
    this.isGeneral = keyspaces.some(({ algorithm }) => algorithm.lua.entries !== undefined)
    const move = keyspaces.some(({ algorithm }) => algorithm.lua.constantsMove)
    if (move || keyspaces.some(({ limit }) => limit === undefined)) this.fixed = null
  }

  decide(requests: readonly (readonly Charge[])[], time: ScriptTime): ScriptCall {
    const first = requests[0] as readonly Charge[]
    const isAlone = requests.length === 1
    const alike = isAlone || requests.every((charges) => areAlike(charges, first))
    const isRepeated = !isAlone && !areDistinct(requests)
    let isUsual = alike && !isRepeated && !this.isGeneral
    for (let i = 0; i < first.length; i += 1) if (first[i]?.cost !== 1) isUsual = false
    if (isUsual) return this.usual(first, time)
    return this.general('general', requests, time, alike, isRepeated)
  }

  /** @param requests no two with the same key */
  peek(requests: readonly (readonly Charge[])[], time: ScriptTime): ScriptCall {
    return this.general('peek', requests, time, requests.length === 1, false)
  }

  /** @param isShown whether the reply says how each key stood before */
  settle(
    charges: readonly Charge[],
    time: ScriptTime,
    chargedAt: number,
    isShown: boolean,
  ): ScriptCall {
    const about = aboutNow(time)
    const given = charges.map((charge) => numbersOf(charge, about))
    const args = [`${time.now}`, `${time.minTtlMs}`, `${chargedAt}`]
    addNumbers(args, charges, given, about, true)
    return { script: this.script(isShown ? 'raise' : 'settle', given), args }
  }

  /** @param count how many keyspaces the ledger has, that of the ban included */
  change(change: Change, count: number, time: ScriptTime): ScriptRun[] {
    if (change.kind === 'renew') return this.renewals(renewalsOf(change.requests), count, time)
    return [{ call: this.callOf(change, time), keys: keysOf(change, count) }]
  }

  private callOf(change: Exclude<Change, { kind: 'renew' }>, time: ScriptTime): ScriptCall {
    const args = [`${time.now}`, `${time.minTtlMs}`]
    switch (change.kind) {
      case 'settle':
        return this.settle(change.charges, time, change.chargedAt ?? -1, false)
      case 'block':
        return { script: block, args: [...args, `${change.durationMs}`] }
      case 'reset':
        return { script: reset, args }
      default:
        return this.own(change, args, time)
    }
  }

  /** Holds slots anew: those of one policy in one call. */
  private renewals(renewals: readonly Renewal[], count: number, time: ScriptTime): ScriptRun[] {
    const policies = Array.from({ length: count }, (_, i) => {
      return renewals.filter(({ policy }) => policy === i)
    })
    return policies
      .filter(({ length }) => length > 0)
      .map((keys) => ({ call: this.renew(keys, time), keys }))
  }

  private renew(renewals: readonly Renewal[], time: ScriptTime): ScriptCall {
    const about = aboutNow(time)
    const args = [`${time.now}`, `${time.minTtlMs}`]
    for (const { limit, slots } of renewals) {
      args.push(...constantTexts(limit, about), `${slots.length}`, ...slots.map(String))
    }
    const { limit } = renewals[0] as Renewal
    const step = { step: limit.algorithm.lua, given: limit.constants(about).length }
    return { script: scriptOf(renewLua(step)), args }
  }

  /** Changes what a client has of its own in one policy. */
  private own(change: OverrideChange | GrantChange, args: string[], time: ScriptTime): ScriptCall {
    const { kind, policy, limit } = change
    const constants = constantTexts(limit, aboutNow(time))
    const numbers = kind === 'grant' ? grantOf(change) : this.overrideOf(change, time)
    const step = { step: this.stepOf(policy), given: constants.length }
    const script = scriptOf(ownLua(step, kind === 'grant'))
    return { script, args: [...args, ...constants, ...numbers.map(textOf)] }
  }

  private overrideOf({ policy, limit, override }: OverrideChange, time: ScriptTime): number[] {
    const { until, limit: units, burst = -1, maxDelayMs = -1 } = override ?? { until: 0, limit: -1 }
    const own = override && compileOwn(limit, { override, granted: 0 }).constants(aboutNow(time))
    const constants = ownConstants(this.stepOf(policy)).map((_, i) => own?.[i] ?? 0)
    return [until, units, burst, maxDelayMs, ...constants]
  }

  private stepOf(policy: number): LuaStep {
    return (this.keyspaces[policy] as Keyspace).algorithm.lua
  }

  /** The call for usual requests: alike, each with keys of its own, and one unit for each charge. */
  private usual(charges: readonly Charge[], time: ScriptTime): ScriptCall {
    const args: string[] = []
    let script = charges.length === this.keyspaces.length ? this.fixed : null
    for (let i = 0; script !== null && i < charges.length; i += 1) {
      if (charges[i]?.limit !== this.keyspaces[i]?.limit) script = null
    }
    if (script === undefined) {
      script = this.composeFixed(charges)
      this.fixed = script
    }
    if (script === null) {
      const about = aboutNow(time)
      for (const { limit } of charges) args.push(...constantTexts(limit, about))
      script = this.script(
        'usual',
        charges.map((charge) => numbersOf(charge, about)),
      )
    }
    if (time.now >= 0) args.push(`${time.now}`, `${time.minTtlMs}`)
    return { script, args }
  }

  private general(
    kind: 'general' | 'peek',
    requests: readonly (readonly Charge[])[],
    time: ScriptTime,
    alike: boolean,
    isRepeated: boolean,
  ): ScriptCall {
    const about = aboutNow(time)
    const listed = alike ? requests.slice(0, 1) : requests
    const given = (listed[0] as readonly Charge[]).map((_, i) => {
      return Math.max(...listed.map((charges) => numbersOf(charges[i] as Charge, about)))
    })
    const args: string[] = []
    for (const charges of listed) addNumbers(args, charges, given, about)
    if (time.now >= 0 || requests.length > 1) {
      const stride = alike ? 0 : args.length / requests.length
      args.push(`${time.now}`, `${time.minTtlMs}`, `${stride}`, isRepeated ? '1' : '0')
    }
    return { script: this.script(kind, given), args }
  }

  private script(kind: keyof typeof COMPOSERS, given: readonly number[]): Script {
    const id = `${kind} ${given}`
    let script = this.known.get(id)
    if (script === undefined) {
      script = scriptOf(COMPOSERS[kind](this.steps(given)))
      this.known.set(id, script)
    }
    return script
  }

  private steps(given: readonly number[]): ScriptStep[] {
    return given.map((count, i) => {
      const isBan = this.hasBan && i === this.keyspaces.length - 1
      return { step: (this.keyspaces[i] as Keyspace).algorithm.lua, given: count, isBan }
    })
  }

  private composeFixed(charges: readonly Charge[]): Script | null {
    const constants = charges.map(({ limit }) => limit.constants(0))
    const steps = this.steps(constants.map(({ length }) => length))
    const text = decideLua(steps, constants)
    if (!scripts.has(text)) {
      if (fixedCount === MAX_FIXED) return null
      fixedCount += 1
    }
    return scriptOf(text)
  }
}

function grantOf({ limit, grant: { until = 0, units, id } }: GrantChange): number[] {
  return [until, units, ...halvesOf(id), limit.algorithm.maxLimit, limit.params.limit]
}

/** A number as Lua reads it. */
function textOf(number: number): string {
  return number === Infinity ? '1e999' : String(number)
}

/** Whether no two requests have the same id for a policy. An id is shorter than the key made of it. */
function areDistinct(requests: readonly (readonly Charge[])[]): boolean {
  return (requests[0] as readonly Charge[]).every((_, i) => {
    const ids = new Set(requests.map((charges) => (charges[i] as Charge).key))
    return ids.size === requests.length
  })
}

function numbersOf({ limit }: Charge, about: number): number {
  return limit.constants(about).length
}

/** Windows of the calendar depend on it, ms. */
function aboutNow({ now }: ScriptTime): number {
  return now < 0 ? Date.now() : now
}

/**
 * Adds what the scripts get of the charges of a request: for each its constants, its cost and, if it
 * holds slots, the slot; if these are reservations, their owner.
 *
 * @param given how many constants the script takes for each policy
 * @param settles whether the units that a reservation was charged come in place of its owner, and those that remained
 *   in a queue follow
 */
function addNumbers(
  args: string[],
  charges: readonly Charge[],
  given: readonly number[],
  about: number,
  settles = false,
): void {
  for (let i = 0; i < charges.length; i += 1) {
    const { limit, cost, slot = 0, reserved = 0, owner = 0, remaining = -1 } = charges[i] as Charge
    const { entries, queues } = limit.algorithm.lua
    const constants = constantTexts(limit, about)
    args.push(...constants)
    for (let n = constants.length; n < (given[i] as number); n += 1) args.push('0')
    args.push(`${cost}`)
    if (entries?.renew) args.push(`${slot}`)
    if (entries?.reserves) args.push(`${settles ? reserved : owner}`)
    if (settles && queues) args.push(`${remaining}`)
  }
}

const texts = new WeakMap<readonly number[], readonly string[]>()

/** The constants of a limit as arguments. */
function constantTexts(limit: CompiledLimit, about: number): readonly string[] {
  const constants = limit.constants(about)
  let known = texts.get(constants)
  if (known === undefined) {
    known = constants.map(String)
    texts.set(constants, known)
  }
  return known
}

/** Whether two requests have the same limits and costs, and no slots. */
function areAlike(some: readonly Charge[], others: readonly Charge[]): boolean {
  for (let i = 0; i < some.length; i += 1) {
    const [one, other] = [some[i] as Charge, others[i] as Charge]
    if (one.limit !== other.limit || one.cost !== other.cost || one.slot !== undefined) return false
  }
  return true
}
