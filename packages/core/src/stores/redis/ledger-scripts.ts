import { areSame, type CompiledLimit } from '../../algorithms/algorithm.ts'
import type { LuaStep } from '../../algorithms/lua-step.ts'
import { madeOnce } from '../../made-once.ts'
import { policyName } from '../inspection/keyspace-name.ts'
import { type ChangedKey, keysOf } from '../rules/change.ts'
import { isOnRefusal } from '../rules/decide-all.ts'
import { halvesOf } from '../rules/own-bytes.ts'
import { type Renewal, renewalsOf } from '../rules/slots.ts'
import type { Change, Charge, GrantChange, Keyspace, Requests } from '../store.ts'
import { Script, type ScriptCall, type ScriptTime } from './connection.ts'
import { renewLua, settleLua } from './correct.lua.ts'
import { decideLua, FIRST_KIND, peekApartLua, peekLua } from './decide.lua.ts'
import { grantLua, OWN } from './own.lua.ts'
import type { ScriptStep } from './state.lua.ts'

/**
 * How many scripts of this process have constants of limits in their text. All others have one text
 * for all limits. Servers keep 500 scripts of all processes together (Redis since 7.4), and receive
 * those that they have dropped again.
 */
const MAX_FIXED = 32

/** The most policies whose script has a text for each of them: a limiter has no more. */
const MAX_POLICIES = 16

/** The scripts by their text, since many ledgers have the same. */
const scripts = new Map<string, Script>()
let fixedCount = 0

function scriptOf(text: string): Script {
  return madeOnce(scripts, text, () => new Script(text))
}

const COMPOSERS = {
  general: (steps: readonly ScriptStep[]) => decideLua(steps, 'general'),
  usual: (steps: readonly ScriptStep[]) => decideLua(steps, 'usual'),
  peek: peekLua,
  settle: settleLua,
}

const ownTerms = new Script(OWN)

/** In place of a limit that a client no longer has. */
const NO_OVERRIDE = { until: 0, limit: -1, burst: undefined, maxDelayMs: undefined }

/** The part of a keyspace that the scripts need. */
type ScriptKeyspace = Pick<Keyspace, 'name' | 'algorithm' | 'limit'>

/** A call, with the records of clients and the states that it changes, in the order of its keys. */
interface ScriptRun {
  readonly call: ScriptCall
  readonly owns: readonly ChangedKey[]
  readonly states: readonly ChangedKey[]
}

type Numbers = readonly (readonly number[])[]

/** The scripts of the policies of a ledger. */
export class LedgerScripts {
  readonly #keyspaces: readonly ScriptKeyspace[]
  readonly #luaSteps: readonly LuaStep[]
  /** What the numbers of the claims are where there is no claim, for each policy. */
  readonly #claims: { readonly decide: Numbers; readonly settle: Numbers }
  /** Whether a request has one key, so that nothing else depends on whether it is refused. */
  readonly #isAlone: boolean
  readonly #known = new Map<string, Script>()
  /**
   * Requests of one turn may be several calls, if states have entries. One script decides them all:
   * where the server does not have it yet, they are sent again in their order.
   */
  readonly #isGeneral: boolean
  /** Whether a policy has something to renew. */
  readonly renews: boolean
  /** Decides usual requests with the limits of the keyspaces, which stand in its text. Null: there is none. */
  #fixed: Script | null | undefined

  /** Loads the Lua of the algorithms, and of no others. */
  static async load(keyspaces: readonly ScriptKeyspace[]): Promise<LedgerScripts> {
    const steps = await Promise.all(keyspaces.map(({ algorithm }) => algorithm.lua()))
    return new LedgerScripts(keyspaces, steps)
  }

  private constructor(keyspaces: readonly ScriptKeyspace[], luaSteps: readonly LuaStep[]) {
    this.#keyspaces = keyspaces
    this.#luaSteps = luaSteps
    const numbersOf = (kind: 'decide' | 'settle') =>
      luaSteps.map(({ claims }) => Object.values(claims?.[kind] ?? {}))
    this.#claims = { decide: numbersOf('decide'), settle: numbersOf('settle') }
    this.#isAlone = keyspaces.length === 1
    this.#isGeneral = luaSteps.some(({ entries }) => entries !== undefined)
    this.renews = luaSteps.some(({ entries }) => entries?.renew !== undefined)
    const move = luaSteps.some(({ constantsMove }) => constantsMove)
    if (move || keyspaces.some(({ limit }) => limit === undefined)) this.#fixed = null
  }

  decide(requests: Requests, time: ScriptTime): ScriptCall {
    const first = requests[0] as readonly Charge[]
    const isAlone = requests.length === 1
    const alike = isAlone || requests.every((charges) => areAlike(charges, first))
    const isRepeated = !isAlone && !areDistinct(requests)
    let isUsual = alike && !isRepeated && !this.#isGeneral
    for (let i = 0; i < first.length; i += 1) {
      const { cost, limit } = first[i] as Charge
      if (cost !== 1 || !(limit.refuses || this.#isAlone)) isUsual = false
    }
    if (isUsual) return this.#usual(first, time)
    return this.#general('general', requests, time, alike, isRepeated)
  }

  /**
   * @param requests no two with the same key; one, of charges without cost, where there are more policies than a limiter
   *   has
   */
  peek(requests: Requests, time: ScriptTime): ScriptCall {
    if (this.#keyspaces.length > MAX_POLICIES)
      return this.#apart(requests[0] as readonly Charge[], time)
    return this.#general('peek', requests, time, requests.length === 1, false)
  }

  #apart(charges: readonly Charge[], time: ScriptTime): ScriptCall {
    const about = aboutNow(time)
    const kinds: ScriptStep[] = []
    const args: string[] = []
    const codes = charges.map((charge, i) => {
      const own = this.#stepOf(i, numbersOf(charge, about))
      addNumbers(args, [charge], [this.#claims.decide[i] as readonly number[]], [own.given], about)
      const known = kinds.findIndex((kind) => isSameKind(kind, own))
      return FIRST_KIND + (known < 0 ? kinds.push(own) - 1 : known)
    })
    args.push(`${time.now}`, String.fromCharCode(...codes))
    return { script: scriptOf(peekApartLua(kinds)), args }
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
    const args = [`${time.now}`, `${time.minTtlMs}`, `${chargedAt}`, isShown ? '1' : '0']
    addNumbers(args, charges, this.#claims.settle, given, about)
    return { script: this.#script('settle', given), args }
  }

  change(change: Change, time: ScriptTime): ScriptRun[] {
    if (change.kind === 'renew') return this.#renewals(renewalsOf(change.requests), time)
    const states = keysOf(change, this.#keyspaces)
    const args = [`${time.now}`, `${time.minTtlMs}`]
    switch (change.kind) {
      case 'settle': {
        const call = this.settle(change.charges, time, change.chargedAt ?? -1, false)
        return [{ call, owns: [], states }]
      }
      case 'block':
      case 'reset': {
        const owns = states.filter(
          ({ policy }) => !isOnRefusal(this.#keyspaces[policy] as Keyspace),
        )
        args.push(`${owns.length}`, `${change.kind === 'block' ? change.durationMs : 0}`)
        return [{ call: { script: ownTerms, args }, owns, states }]
      }
      case 'override': {
        const { until, limit, burst = -1, maxDelayMs = -1 } = change.override ?? NO_OVERRIDE
        args.push('1', ...[until, limit, burst, maxDelayMs].map(textOf))
        return [{ call: { script: ownTerms, args }, owns: states, states }]
      }
      case 'grant':
        return [{ call: this.#grant(change, args, time), owns: states, states }]
    }
  }

  /** The call for a client's states of other versions of the application, after a change of its own record. */
  changeOthers({ kind }: Change, time: ScriptTime): ScriptCall {
    const args = [`${time.now}`, `${time.minTtlMs}`, '0']
    if (kind === 'block' || kind === 'reset') args.push('0')
    return { script: ownTerms, args }
  }

  /** Holds what is claimed anew: all of one policy in one call. */
  #renewals(renewals: readonly Renewal[], time: ScriptTime): ScriptRun[] {
    return this.#keyspaces.flatMap((_, i) => {
      const states = renewals.filter(({ policy }) => policy === i)
      return states.length === 0 ? [] : [{ call: this.#renew(states, time), owns: [], states }]
    })
  }

  #renew(renewals: readonly Renewal[], time: ScriptTime): ScriptCall {
    const about = aboutNow(time)
    const args = [`${time.now}`, `${time.minTtlMs}`]
    const given = Math.max(...renewals.map((renewal) => numbersOf(renewal, about)))
    for (const { limit, claims } of renewals) {
      addConstants(args, limit, given, about)
      args.push(`${claims.length}`, ...claims.map(([number]) => `${number}`))
    }
    const [{ policy }] = renewals as readonly [Renewal]
    return { script: scriptOf(renewLua(this.#stepOf(policy, given))), args }
  }

  #grant(change: GrantChange, args: string[], time: ScriptTime): ScriptCall {
    const { policy, limit, grant } = change
    const { until = 0, units, id } = grant
    const constants = constantTexts(limit, aboutNow(time))
    const numbers = [until, units, ...halvesOf(id), limit.algorithm.maxLimit, limit.params.limit]
    const script = scriptOf(grantLua(this.#stepOf(policy, constants.length)))
    return { script, args: [...args, ...constants, ...numbers.map(textOf)] }
  }

  /** The call for usual requests: alike, each with keys of its own, and one unit for each charge. */
  #usual(charges: readonly Charge[], time: ScriptTime): ScriptCall {
    const args: string[] = []
    let script = charges.length === this.#keyspaces.length ? this.#fixed : null
    for (let i = 0; script !== null && i < charges.length; i += 1) {
      const { limit } = this.#keyspaces[i] as ScriptKeyspace
      if (!areSame((charges[i] as Charge).limit, limit as CompiledLimit)) script = null
    }
    if (script === undefined) {
      script = this.#composeFixed(charges)
      this.#fixed = script
    }
    if (script === null) {
      const about = aboutNow(time)
      for (const { limit } of charges) args.push(...constantTexts(limit, about))
      script = this.#script(
        'usual',
        charges.map((charge) => numbersOf(charge, about)),
      )
    }
    if (time.now >= 0) args.push(`${time.now}`, `${time.minTtlMs}`)
    return { script, args }
  }

  #general(
    kind: 'general' | 'peek',
    requests: Requests,
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
    for (const charges of listed)
      addNumbers(args, charges, this.#claims.decide, given, about, !this.#isAlone)
    if (time.now >= 0 || requests.length > 1) {
      const stride = alike ? 0 : args.length / requests.length
      args.push(`${time.now}`, `${time.minTtlMs}`, `${stride}`, isRepeated ? '1' : '0')
    }
    return { script: this.#script(kind, given), args }
  }

  #script(kind: keyof typeof COMPOSERS, given: readonly number[]): Script {
    const id = `${kind} ${given}`
    let script = this.#known.get(id)
    if (script === undefined) {
      script = scriptOf(COMPOSERS[kind](this.#steps(given)))
      this.#known.set(id, script)
    }
    return script
  }

  #steps(given: readonly number[]): ScriptStep[] {
    return given.map((count, i) => this.#stepOf(i, count))
  }

  #stepOf(policy: number, given: number): ScriptStep {
    const keyspace = this.#keyspaces[policy] as ScriptKeyspace
    const { name } = keyspace
    return {
      step: this.#luaSteps[policy] as LuaStep,
      given,
      spaceLength: name.length,
      nameLength: policyName(name).length,
      onRefusal: isOnRefusal(keyspace),
    }
  }

  #composeFixed(charges: readonly Charge[]): Script | null {
    const constants = charges.map(({ limit }) => limit.constants(0))
    const steps = this.#steps(constants.map(({ length }) => length))
    const text = decideLua(steps, constants)
    if (!scripts.has(text)) {
      if (fixedCount === MAX_FIXED) return null
      fixedCount += 1
    }
    return scriptOf(text)
  }
}

function isSameKind(one: ScriptStep, other: ScriptStep): boolean {
  return (Object.keys(one) as (keyof ScriptStep)[]).every((each) => one[each] === other[each])
}

/** A number as Lua reads it. */
function textOf(number: number): string {
  return number === Infinity ? '1e999' : String(number)
}

/** Whether no two requests have the same id for a policy. An id is shorter than the key made of it. */
function areDistinct(requests: Requests): boolean {
  return (requests[0] as readonly Charge[]).every((_, i) => {
    const ids = new Set(requests.map((charges) => (charges[i] as Charge).key))
    return ids.size === requests.length
  })
}

function numbersOf({ limit }: Pick<Charge, 'limit'>, about: number): number {
  return limit.constants(about).length
}

/** Windows of the calendar depend on it, ms. */
function aboutNow({ now }: ScriptTime): number {
  return now < 0 ? Date.now() : now
}

/**
 * Adds what the scripts get of the charges of a request: for each its constants, its cost and the numbers of its claim.
 *
 * @param claims what these are where there is no claim
 * @param given how many constants the script takes for each policy
 * @param tellsRefuses whether the cost also tells which limits refuse nothing
 */
function addNumbers(
  args: string[],
  charges: readonly Charge[],
  claims: Numbers,
  given: readonly number[],
  about: number,
  tellsRefuses = false,
): void {
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Charge
    const { limit, cost, claim } = charge
    const numbers = claims[i] as readonly number[]
    addConstants(args, limit, given[i] as number, about)
    args.push(`${tellsRefuses && !limit.refuses ? -1 - cost : cost}`)
    for (let n = 0; n < numbers.length; n += 1) args.push(`${claim?.[n] ?? numbers[n]}`)
  }
}

/** @param given how many constants the script takes: requests may have limits of which some have one more */
function addConstants(args: string[], limit: CompiledLimit, given: number, about: number): void {
  const constants = constantTexts(limit, about)
  args.push(...constants)
  for (let n = constants.length; n < given; n += 1) args.push('0')
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

/** Whether two requests have the same limits and costs, and no claims. */
function areAlike(some: readonly Charge[], others: readonly Charge[]): boolean {
  for (let i = 0; i < some.length; i += 1) {
    const [one, other] = [some[i] as Charge, others[i] as Charge]
    const isSame = one.limit === other.limit && one.cost === other.cost
    if (!isSame || one.claim !== undefined) return false
  }
  return true
}
