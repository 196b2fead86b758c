import { textOf } from '../../errors/thrown.ts'
import { warn as warnOperator } from '../../errors/warning.ts'
import { policyEvents } from '../../events.ts'
import { ALGORITHM_OPTIONS } from '../../options/algorithm-options.ts'
import {
  byName,
  NO_POLICIES,
  POLICIES,
  POLICIES_TTL_MS,
  type PolicyDocument,
  type PolicyLayers,
  type PolicySettings,
  readPolicies,
  settingsAt,
} from '../../stores/documents/policy-document.ts'
import type { Edit, SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { Policy } from '../policy.ts'
import { SettingEnds } from './setting-ends.ts'
import { allows, withSettings } from './with-settings.ts'

/** The settings that not every algorithm has. */
const OF_ALGORITHM = ['limit', 'concurrent', ...ALGORITHM_OPTIONS] as const

/** A policy of a limiter that a document may change. */
export interface LivePolicy {
  /** The name by which documents know it. */
  readonly id: string
  /** The policies of its limiter, where a changed one is put in its place. */
  readonly policies: Policy[]
  /** Its index in them. */
  readonly place: number
  /** The option `name` of its limiter. */
  readonly limiter: string | undefined
}

/** A limiter that takes over the settings of documents. */
interface Attached {
  readonly policies: readonly LivePolicy[]
  /** The settings that each policy has taken over, as text. */
  readonly applied: string[]
  /** Called when the limits of its policies have changed. */
  readonly changed: () => void
}

/** A policy with other settings, which is not in force yet. */
interface Prepared {
  readonly attached: Attached
  readonly i: number
  readonly settings: PolicySettings | undefined
  readonly next: Policy
}

/** Ends what limiters need that were never closed. */
const forgotten = new FinalizationRegistry<() => void>((end) => end())

/**
 * The settings that a document under a prefix has for the policies of this process. A document that is wrong is ignored
 * as a whole: then the last good one holds. Settings that only another version of the application may have, such as one
 * with other bounds, leave their policy as it was.
 */
class LivePolicies {
  readonly #documents: SharedDocuments
  /** An application may forget to close its limiters: it need not keep them. */
  readonly #attached = new Set<WeakRef<Attached>>()
  #document = NO_POLICIES
  #ends = new SettingEnds()
  #isKnown = false
  /** The text of the document in force; '': there is none. */
  #text = ''
  /** Whether the store has lost it. */
  #isLost = false

  constructor(documents: SharedDocuments) {
    this.#documents = documents
    const forget = () => {
      this.#text = ''
    }
    documents.follow(POLICIES, (text, at) => this.#learn(text, at), forget)
  }

  /** All policies of this process that documents may change. */
  get policies(): readonly LivePolicy[] {
    return this.#alive().flatMap(({ policies }) => policies)
  }

  /** @returns ends it */
  attach(policies: readonly LivePolicy[], changed: () => void): () => void {
    const attached = { policies, changed, applied: policies.map(() => '') }
    const reference = new WeakRef(attached)
    this.#attached.add(reference)
    const rest = this.#documents.stayAwake()
    if (this.#isKnown) this.#take(this.#document, this.#documents.now(), [attached])
    const end = () => {
      this.#attached.delete(reference)
      // What nobody follows any more may be old: it is not written over what the store has.
      if (this.#attached.size === 0) this.#text = ''
      rest()
    }
    forgotten.register(attached, end, attached)
    return () => {
      forgotten.unregister(attached)
      end()
    }
  }

  #alive(): Attached[] {
    return [...this.#attached].flatMap((reference) => reference.deref() ?? [])
  }

  #learn(text: string | undefined, at: number): void {
    const isFirst = !this.#isKnown
    this.#isKnown = true
    // Who changes settings leaves a history: a document without one was never there, or is lost.
    if (text !== undefined) this.#isLost = text === '' && this.#text !== ''
    if (this.#isLost) this.#restore()
    else if (text !== undefined && this.#takeText(text, at)) return
    // The first time it publishes what holds without a document.
    if (isFirst || this.#ends.isDue(at)) this.#take(this.#document, at)
  }

  /** Writes what this process knows into a store that has lost it, unless another one was faster. */
  #restore(): void {
    warn(
      'The store has lost the document with the settings of live policies. The settings that this process knows hold, and ' +
        'it writes them again.',
    )
    const known = this.#text
    const edit: Edit = (text) => (text === '' ? { text: known, ttlMs: POLICIES_TTL_MS } : undefined)
    // What fails is tried again when the store is asked again.
    Promise.resolve(this.#documents.change(POLICIES, 'restore', () => edit)).catch(() => {})
  }

  /** @returns whether it is in force */
  #takeText(text: string, at: number): boolean {
    try {
      const isTaken = this.#take(readPolicies(text), at)
      if (isTaken) this.#text = text
      return isTaken
    } catch (error) {
      warnOfDocument(error)
      return false
    }
  }

  /** The settings of a document, with those before it of a policy that can't have them in this version. */
  #ofThisVersion(policies: PolicyLayers, at: number): PolicyLayers {
    const all = byName(policies)
    for (const { id, policies: own, place } of this.policies) {
      const foreign = foreignIn(own[place] as Policy, settingsAt(policies[id], at))
      if (foreign === undefined) continue
      all[id] = this.#document.policies[id] ?? []
      warn(
        `The document of live policies is ignored for the policy '${id}', whose settings before it hold: ${foreign}. ` +
          'Give all versions of the application the same bounds and algorithms.',
      )
    }
    return all
  }

  /** @returns whether all policies could take it over; otherwise none has */
  #take(document: PolicyDocument, at: number, to: readonly Attached[] = this.#alive()): boolean {
    const policies = this.#ofThisVersion(document.policies, at)
    const ends = this.#ends.after(policies, at)
    const alive = ends.withoutEnded(policies)
    let prepared: Prepared[]
    try {
      prepared = to.flatMap((attached) => prepare(attached, alive, at))
    } catch (error) {
      warnOfDocument(error)
      return false
    }
    this.#document = { ...document, policies }
    this.#ends = ends
    // Where nothing is polled, a request looks whether something has ended.
    this.#documents.wakeBy(ends.next)
    for (const each of prepared) putInForce(each, at)
    for (const { changed } of new Set(prepared.map(({ attached }) => attached))) changed()
    return true
  }
}

/** The policies of a limiter whose settings differ from those that they have. @throws SluiceError */
function prepare(attached: Attached, layers: PolicyDocument['policies'], at: number): Prepared[] {
  return attached.policies.flatMap(({ id, policies, place }, i) => {
    const policy = policies[place] as Policy
    const settings = settingsAt(layers[id], at)
    const text = JSON.stringify(settings ?? {})
    if (attached.applied[i] === text || foreignIn(policy, settings) !== undefined) return []
    return { attached, i, settings, next: settings ? withSettings(policy, settings) : policy.code }
  })
}

/**
 * What a policy can't have of settings that another version of the application may have: a setting of another
 * algorithm, or a limit outside of its bounds. Undefined: nothing.
 */
function foreignIn(policy: Policy, settings: PolicySettings = {}): string | undefined {
  const { limitOption, algorithm, live } = policy
  const own = [limitOption, ...Object.keys(algorithm.options)]
  const other = OF_ALGORITHM.find((name) => settings[name] !== undefined && !own.includes(name))
  if (other !== undefined) return `its algorithm has no ${other}`
  const limit = settings[limitOption]
  const isLimit = Number.isSafeInteger(limit) && (limit as number) >= 0
  if (!isLimit || (limit as number) > algorithm.maxLimit || allows(policy, limit)) return undefined
  return `this process allows a ${limitOption} of ${live?.min} to ${live?.max}, by its option live, and it sets ${limit}`
}

function putInForce({ attached, i, settings, next }: Prepared, at: number): void {
  const { id, policies, place, limiter } = attached.policies[i] as LivePolicy
  attached.applied[i] = JSON.stringify(settings ?? {})
  const before = policies[place]?.limit
  policies[place] = next
  if (!policyEvents.hasSubscribers) return
  const { name, unit, limit, enforced, code } = next
  policyEvents.publish({
    limiter,
    policy: name,
    id,
    unit,
    limit,
    before,
    codeLimit: code.limit,
    enforced,
    source: settings === undefined ? 'code' : 'document',
    settings: settings ?? {},
    at,
  })
}

/** The most warnings about documents in a time: somebody may write one that is wrong in ever new ways. */
const MAX_WARNINGS = 10
const WARNINGS_WITHIN_MS = 3_600_000

const warned = new Set<string>()
let warnedSince = 0

function warnOfDocument(error: unknown): void {
  const reason = (error instanceof Error ? error.message : textOf(error)).slice(0, 300)
  warn(
    `The document with the settings of live policies is ignored: ${reason}. The last good one holds, or the options if ` +
      'there is none. Correct it with the command "sluice policy".',
  )
}

function warn(text: string): void {
  const now = performance.now()
  if (warned.size === MAX_WARNINGS && now - warnedSince >= WARNINGS_WITHIN_MS) warned.clear()
  if (warned.has(text) || warned.size === MAX_WARNINGS) return
  if (warned.size === 0) warnedSince = now
  warned.add(text)
  warnOperator('SLUICE_POLICY_DOCUMENT', text)
}

const known = new WeakMap<SharedDocuments, LivePolicies>()

/** The settings under a prefix, which all limiters share. */
export function livePoliciesOf(documents: SharedDocuments): LivePolicies {
  let live = known.get(documents)
  if (live === undefined) {
    live = new LivePolicies(documents)
    known.set(documents, live)
  }
  return live
}
