import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { textOf } from '../../errors/thrown.ts'
import { warn as warnOperator } from '../../errors/warning.ts'
import { policyEvents } from '../../events.ts'
import {
  byName,
  NO_POLICIES,
  POLICIES,
  type PolicyDocument,
  type PolicyLayers,
  type PolicySettings,
  readPolicies,
  settingsAt,
} from '../../stores/documents/policy-document.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { LimitRange } from '../live-bounds.ts'
import type { Policy } from '../policy.ts'
import { SettingEnds } from './setting-ends.ts'

/** A policy of a limiter that a document may change. */
export interface LivePolicy {
  /** The name by which documents know it. */
  readonly id: string
  readonly policy: Policy
  /** The option `name` of its limiter. */
  readonly limiter: string | undefined
}

/** A limiter that takes over the settings of documents. */
interface Attached {
  readonly policies: readonly LivePolicy[]
  /** The limit of each policy in the code; undefined if that is a function of the request. */
  readonly code: readonly (CompiledLimit | undefined)[]
  /** The settings that each policy has taken over, as text. */
  readonly applied: string[]
  /** Called when the limits of its policies have changed. */
  readonly changed: () => void
}

/** A policy with other settings, which has not taken them over yet. */
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
 * as a whole: then the last good one holds. Of one that is right, a limit outside of the bounds of a policy leaves that
 * policy as it was: another version of the application may have other bounds.
 */
class LivePolicies {
  private readonly documents: SharedDocuments
  /** An application may forget to close its limiters: it need not keep them. */
  private readonly attached = new Set<WeakRef<Attached>>()
  private document = NO_POLICIES
  private ends = new SettingEnds()
  private isKnown = false

  constructor(documents: SharedDocuments) {
    this.documents = documents
    documents.follow(POLICIES, (text, at) => this.learn(text, at))
  }

  /** All policies of this process that documents may change. */
  get policies(): readonly LivePolicy[] {
    return this.alive().flatMap(({ policies }) => policies)
  }

  /** @returns ends it */
  attach(policies: readonly LivePolicy[], changed: () => void): () => void {
    const code = policies.map(({ policy }) => policy.compiledLimit)
    const attached = { policies, changed, code, applied: policies.map(() => '') }
    const reference = new WeakRef(attached)
    this.attached.add(reference)
    const rest = this.documents.stayAwake()
    if (this.isKnown) this.take(this.document, this.documents.now(), [attached])
    const end = () => {
      this.attached.delete(reference)
      rest()
    }
    forgotten.register(attached, end, attached)
    return () => {
      forgotten.unregister(attached)
      end()
    }
  }

  private alive(): Attached[] {
    return [...this.attached].flatMap((reference) => reference.deref() ?? [])
  }

  private learn(text: string | undefined, at: number): void {
    const isFirst = !this.isKnown
    this.isKnown = true
    if (text !== undefined && this.takeText(text, at)) return
    // The first time it publishes what holds without a document.
    if (isFirst || this.ends.isDue(at)) this.take(this.document, at)
  }

  /** @returns whether it is in force */
  private takeText(text: string, at: number): boolean {
    try {
      return this.take(readPolicies(text), at)
    } catch (error) {
      warnOfDocument(error)
      return false
    }
  }

  /** The settings of a document, with those before it of a policy whose bounds its limit leaves. */
  private withinBounds(policies: PolicyLayers, at: number): PolicyLayers {
    const all = byName(policies)
    for (const { id, policy } of this.policies) {
      const outside = outsideOf(policy, settingsAt(policies[id], at))
      if (outside === undefined) continue
      all[id] = this.document.policies[id] ?? []
      const { min, max } = policy.live as LimitRange
      warn(
        `The limit ${outside} of the policy '${id}' in the document of live policies is ignored: this process allows ` +
          `${min} to ${max}, by its option live. The limit before it holds. Give all versions of the application the same bounds.`,
      )
    }
    return all
  }

  /** @returns whether all policies could take it over; otherwise none has */
  private take(
    document: PolicyDocument,
    at: number,
    to: readonly Attached[] = this.alive(),
  ): boolean {
    const policies = this.withinBounds(document.policies, at)
    const ends = this.ends.after(policies, at)
    const alive = ends.withoutEnded(policies)
    let prepared: Prepared[]
    try {
      prepared = to.flatMap((attached) => prepare(attached, alive, at))
    } catch (error) {
      warnOfDocument(error)
      return false
    }
    this.document = { ...document, policies }
    this.ends = ends
    // Where nothing is polled, a request looks whether something has ended.
    this.documents.wakeBy(ends.next)
    for (const each of prepared) adopt(each, at)
    for (const { changed } of new Set(prepared.map(({ attached }) => attached))) changed()
    return true
  }
}

/** The policies of a limiter whose settings differ from those that they have. @throws SluiceError */
function prepare(attached: Attached, layers: PolicyDocument['policies'], at: number): Prepared[] {
  return attached.policies.flatMap(({ id, policy }, i) => {
    const settings = settingsAt(layers[id], at)
    const text = JSON.stringify(settings ?? {})
    if (attached.applied[i] === text || outsideOf(policy, settings) !== undefined) return []
    return { attached, i, settings, next: policy.with(settings ?? {}) }
  })
}

/** The limit that settings have outside of the bounds of a policy; undefined: they have none, or one that no policy can have. */
function outsideOf(policy: Policy, settings: PolicySettings = {}): number | undefined {
  const limit = policy.holdsSlots ? settings.concurrent : settings.limit
  const isLimit = Number.isSafeInteger(limit) && (limit as number) >= 0
  return isLimit && (limit as number) <= policy.algorithm.maxLimit && !policy.allows(limit)
    ? limit
    : undefined
}

function adopt({ attached, i, settings, next }: Prepared, at: number): void {
  const { id, policy, limiter } = attached.policies[i] as LivePolicy
  attached.applied[i] = JSON.stringify(settings ?? {})
  const before = policy.limit
  policy.adopt(next, attached.code[i])
  if (!policyEvents.hasSubscribers) return
  const { name, unit, limit, enforced } = policy
  policyEvents.publish({
    limiter,
    policy: name,
    id,
    unit,
    limit,
    before,
    codeLimit: policy.with({}).limit,
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
