import { inspect } from '#platform'
import type { Duration } from '../../options/duration.ts'
import { linesOf, writeDocument } from './document.ts'

/** The name of the document that has the settings of live policies. */
export const POLICIES = 'policies'
/** The form of the document. */
const FORM = 1
/** How long the document is kept after a change, ms: ten years. */
export const POLICIES_TTL_MS = 315_576_000_000
/** The most policies that have settings at the same time. */
const MAX_POLICIES = 1000
/** The most settings of one policy that end by themselves, at the same time. */
const MAX_TEMPORARY = 10
/** The changes that are remembered, and how many characters they may take: older ones are forgotten. */
const MAX_HISTORY = 50
const MAX_HISTORY_LENGTH = 200_000
/** The most characters of a document: a store takes 600,000. */
const MAX_LENGTH = 400_000

/** The settings of a policy that a document can have. */
export const SETTING_NAMES = [
  'limit',
  'burst',
  'maxDelay',
  'concurrent',
  'alertAt',
  'dryRun',
  'enforce',
] as const

/** The settings of a policy in a document, which replace its options. */
export interface PolicySettings {
  /** Units per window. */
  readonly limit?: number | undefined
  /** Units. Only of a token bucket. */
  readonly burst?: number | undefined
  /** A duration. Only of a leaky bucket. */
  readonly maxDelay?: Duration | undefined
  /** Requests. Only of a policy that has it. */
  readonly concurrent?: number | undefined
  readonly alertAt?: readonly number[] | undefined
  readonly dryRun?: boolean | undefined
  /** A share of the clients, 0 … 1. */
  readonly enforce?: number | undefined
}

/** Settings of a policy. Later layers override earlier ones. */
export interface SettingsLayer {
  readonly set: PolicySettings
  /** When they end, ms on the store's clock; undefined: when they are changed. */
  readonly until?: number | undefined
}

/** The settings of policies, by their names. */
export type PolicyLayers = Readonly<Record<string, readonly SettingsLayer[]>>

/** A change of settings: its author, its time, and the new settings. */
export interface PolicyChange {
  /** Counts the changes, from 1. */
  readonly number: number
  /** ms on the store's clock. */
  readonly at: number
  readonly by: string
  /** From where: `api`, `command`, `page`. */
  readonly from: string
  readonly action: 'set' | 'unset' | 'apply' | 'rollback'
  /** The settings of each policy that has changed, before and after; an empty list: those of the code alone. */
  readonly before: PolicyLayers
  readonly after: PolicyLayers
}

/** The settings of all live policies under a prefix, and the last changes of these, the oldest first. */
export interface PolicyDocument {
  readonly policies: PolicyLayers
  readonly history: readonly PolicyChange[]
}

/** The document of a store that has none. */
export const NO_POLICIES: PolicyDocument = { policies: byName({}), history: [] }
/** The latest moment that a date can be, ms. */
const MAX_TIME = 8.64e15

/**
 * Reads what {@link writePolicies} wrote.
 *
 * @throws Error that says what is wrong, if it is of another form
 */
export function readPolicies(text: string): PolicyDocument {
  if (text === '') return NO_POLICIES
  if (text.length > MAX_LENGTH) throw new Error(`it has more than ${MAX_LENGTH} characters`)
  const [line = ''] = linesOf(text)
  const { form, policies, history } = parsed(line)
  if (form !== FORM) throw new Error(`its form is ${shown(form)}, and not ${FORM}`)
  if (!isObject(policies) || !Array.isArray(history)) throw new Error('it has no policies')
  const problem = problemOf(policies)
  if (problem !== undefined) throw new Error(problem)
  return { policies: byName(policies as PolicyLayers), history: whole(history.filter(isChange)) }
}

/** Reads a document. One that every process ignores is read as an empty one, with a problem. */
export function readOrNothing(text: string): PolicyDocument & { readonly problem?: string } {
  try {
    return readPolicies(text)
  } catch (error) {
    return { ...NO_POLICIES, problem: (error as Error).message }
  }
}

/** Copies values by name, so that a policy named `constructor` has no settings that nobody has given it. */
export function byName<T>(given: Readonly<Record<string, T>>): Record<string, T> {
  return Object.assign(Object.create(null), given)
}

/**
 * The document as text, with a version that no other text has.
 *
 * @throws RangeError if it is too long
 */
export function writePolicies({ policies, history }: PolicyDocument): string {
  const json = JSON.stringify({ form: FORM, policies, history: compact(history) })
  // Stores keep printable ASCII.
  const ascii = json.replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  const text = writeDocument([ascii])
  if (text.length > MAX_LENGTH)
    throw new RangeError(`settings and history of ${text.length} characters, above ${MAX_LENGTH}`)
  return text
}

/** The settings of a policy at a moment; undefined: none. */
export function settingsAt(
  layers: readonly SettingsLayer[] | undefined,
  at: number,
): PolicySettings | undefined {
  const alive = (layers ?? []).filter(({ until = Infinity }) => until > at)
  return alive.length === 0 ? undefined : alive.map(({ set }) => set).reduce(over)
}

/**
 * The settings of a policy with further ones. Those that have no end are joined with the ones before, and end what was
 * set for a time in their place: what is set last holds. Those that have an end are put over the others until then.
 */
export function withLayer(
  layers: readonly SettingsLayer[],
  { set, until }: SettingsLayer,
  at: number,
): readonly SettingsLayer[] {
  const alive = layers.filter((layer) => (layer.until ?? Infinity) > at)
  const lasting = alive.filter((layer) => layer.until === undefined).map((layer) => layer.set)
  let ending = alive.filter((layer) => layer.until !== undefined)
  if (until !== undefined) ending.push({ set, until })
  else {
    lasting.push(set)
    ending = ending.flatMap((layer) => without(layer, set))
  }
  if (ending.length > MAX_TEMPORARY)
    throw new RangeError(`more than ${MAX_TEMPORARY} settings that end by themselves`)
  return [...(lasting.length > 0 ? [{ set: lasting.reduce(over) }] : []), ...ending]
}

/**
 * The document after a change.
 *
 * @param after the settings of the policies that change; an empty list: none
 * @throws RangeError if it would be too large
 */
export function changed(
  { policies, history }: PolicyDocument,
  after: PolicyLayers,
  change: Pick<PolicyChange, 'at' | 'by' | 'from' | 'action'>,
): PolicyDocument {
  const names = Object.keys(after)
  const before = Object.fromEntries(names.map((name) => [name, policies[name] ?? []]))
  const all = Object.entries({ ...policies, ...after }).filter(([, layers]) => layers.length > 0)
  if (all.length > MAX_POLICIES) throw new RangeError(`more than ${MAX_POLICIES} policies`)
  const number = (history.at(-1)?.number ?? 0) + 1
  const changes = [...history, { number, ...change, before, after }].slice(-MAX_HISTORY)
  while (changes.length > 1 && JSON.stringify(compact(changes)).length > MAX_HISTORY_LENGTH)
    changes.shift()
  return { policies: Object.fromEntries(all), history: changes }
}

/** The changes without what those before them say: the settings before it of a policy that one of them has set. */
function compact(history: readonly PolicyChange[]): PolicyChange[] {
  const last = new Map<string, string>()
  return history.map((change) => {
    const { before, after } = change
    const isUnknown = ([name, layers]: [string, unknown]) =>
      last.get(name) !== JSON.stringify(layers)
    const unknown = Object.fromEntries(Object.entries(before).filter(isUnknown))
    for (const [name, layers] of Object.entries(after)) last.set(name, JSON.stringify(layers))
    return { ...change, before: unknown }
  })
}

/** The changes with all that {@link compact} has left out. */
function whole(history: readonly PolicyChange[]): PolicyChange[] {
  const last = new Map<string, readonly SettingsLayer[]>()
  return history.map((change) => {
    const { after } = change
    const before = byName<readonly SettingsLayer[]>({})
    for (const [name, layers] of Object.entries(after)) {
      const known = Object.hasOwn(change.before, name) ? change.before[name] : last.get(name)
      before[name] = known ?? []
      last.set(name, layers)
    }
    return { ...change, before }
  })
}

/** Settings over others. */
function over(lower: PolicySettings, upper: PolicySettings): PolicySettings {
  return { ...notIn(upper, lower), ...upper }
}

/** What is left of a layer where others take the place of some of its settings; nothing: an empty list. */
function without({ set, until }: SettingsLayer, others: PolicySettings): readonly SettingsLayer[] {
  const left = notIn(others, set)
  return Object.keys(left).length === 0 ? [] : [{ set: left, until }]
}

/** Settings that others do not replace: what decides for whom it is a dry run is one setting. */
export function notIn(others: PolicySettings, set: PolicySettings): PolicySettings {
  const decides = others.dryRun !== undefined || others.enforce !== undefined
  const isReplaced = (name: string) =>
    Object.hasOwn(others, name) || (decides && (name === 'dryRun' || name === 'enforce'))
  return Object.fromEntries(Object.entries(set).filter(([name]) => !isReplaced(name)))
}

/** What is wrong with the settings of policies; undefined: nothing. */
function problemOf(policies: Record<string, unknown>): string | undefined {
  for (const [name, layers] of Object.entries(policies)) {
    if (!Array.isArray(layers)) return `the settings of ${shown(name)} are no list`
    for (const layer of layers) {
      const { set, until } = (isObject(layer) ? layer : {}) as Partial<SettingsLayer>
      if (!isObject(set)) return `the settings of ${shown(name)} are no object`
      if (until !== undefined && !isTime(until))
        return `the end of settings of ${shown(name)} is no time`
      const other = Object.keys(set).find((each) => !SETTING_NAMES.some((known) => known === each))
      if (other !== undefined)
        return `it sets ${shown(other)} of ${shown(name)}, which stands in code alone`
    }
  }
  return undefined
}

/** Shortens text that a person wrote, and removes control characters. */
function shown(value: unknown): string {
  return inspect(value, 60).slice(0, 100)
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return value
  } catch {
    // As any other text that is no document.
  }
  throw new Error('it is no JSON of an object')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= MAX_TIME
}

function isChange(value: unknown): value is PolicyChange {
  if (!isObject(value)) return false
  const { number, at, by, from, action, before, after } = value
  const areTexts = [by, from, action].every((text) => typeof text === 'string')
  if (!areTexts || !Number.isSafeInteger(number) || !isTime(at)) return false
  return [before, after].every((each) => isObject(each) && problemOf(each) === undefined)
}
