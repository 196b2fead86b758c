import { limitOf } from './checks/account.ts'
import { enforcedOf, type PlannedPolicy, type PlannedSettings } from './plan.ts'

// What documents with the settings of live policies say, by docs/live-policies.md.

/** The option `name` of the application's limiter, where documents change its policies. */
export const NAME = 'api'
/** Where the store keeps the document. */
export const DOCUMENT_KEY = 'sluice:{#}:policies'

/** Settings of a policy, and when they end, ms on the store's clock. */
export interface Layer {
  readonly set: PlannedSettings
  readonly until?: number
}

/** The settings of policies, by their names in documents. */
export type Layers = { readonly [id: string]: readonly Layer[] }

/** A change that the document remembers. */
export interface Remembered {
  readonly number: number
  readonly by: string
  readonly before: Layers
  readonly after: Layers
}

export interface PoliciesDocument {
  readonly policies: Layers
  readonly history: readonly Remembered[]
}

/** What of a policy is in force for a request. */
export interface Terms {
  readonly limit: number
  readonly burst: number | undefined
  readonly maxDelay: number | undefined
  readonly alertAt: readonly number[] | undefined
  /** The share of its clients that it refuses, 0 … 1. */
  readonly enforced: number
}

/** How a text without a document is read. */
const EMPTY: PoliciesDocument = { policies: {}, history: [] }

/** The name by which documents know a policy. */
export function idOf({ name, isOfRoute }: PlannedPolicy): string {
  return `${NAME}/${name}${isOfRoute ? ':/own' : ''}`
}

/** What a text says; undefined: it is no document. */
export function readDocument(text: string): PoliciesDocument | undefined {
  if (text === '') return EMPTY
  try {
    const { form, policies, history } = JSON.parse(text.slice(text.indexOf('\n') + 1))
    const lists = Object.values(policies as object)
    const areLists = form === 1 && lists.every(Array.isArray) && lists.flat().every(isLayer)
    return areLists && Array.isArray(history) ? { policies, history } : undefined
  } catch {
    return undefined
  }
}

/** What is set of a policy at a time, ms on the store's clock. */
export function settingsAt(layers: readonly Layer[] = [], at: number): PlannedSettings {
  let all: PlannedSettings = {}
  for (const { set, until = Infinity } of layers) {
    if (until <= at) continue
    // For whom it is a dry run is one setting.
    const { dryRun: _, enforce: __, ...others } = all
    const isReplaced = set.dryRun !== undefined || set.enforce !== undefined
    all = { ...(isReplaced ? others : all), ...set }
  }
  return all
}

/** What is in force of a policy. @param paid the limit that the client of a request has paid for, if it has */
export function termsOf(
  policy: PlannedPolicy,
  { limit, concurrent, burst, maxDelay, alertAt, dryRun, enforce }: PlannedSettings,
  paid: number | undefined,
): Terms {
  const { burst: ownBurst, maxDelay: ownDelay } = policy as { burst?: number; maxDelay?: number }
  const isSet = dryRun !== undefined || enforce !== undefined
  return {
    limit: limit ?? concurrent ?? paid ?? limitOf(policy),
    burst: burst ?? ownBurst,
    maxDelay: maxDelay ?? ownDelay,
    alertAt: alertAt ?? policy.alertAt,
    enforced: isSet ? (dryRun ? 0 : (enforce ?? 1)) : enforcedOf(policy),
  }
}

/** Beyond all that documents set. */
const MAX_LIMIT = 1e15

const isWhole = (value: unknown, least: number, most: number) =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
const isShare = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1

/** Whether the value of each setting is good. */
const RULES: { readonly [name: string]: (value: unknown) => boolean } = {
  limit: (value) => isWhole(value, 0, MAX_LIMIT),
  concurrent: (value) => isWhole(value, 0, MAX_LIMIT),
  burst: (value) => isWhole(value, 1, MAX_LIMIT),
  maxDelay: (value) => isWhole(value, 0, MAX_LIMIT),
  alertAt: (value) => Array.isArray(value) && value.every((each) => each > 0 && isShare(each)),
  dryRun: (value) => typeof value === 'boolean',
  enforce: isShare,
}

/** Whether it has settings that there are, and an end that is a time. */
function isLayer({ set, until = 0 }: Layer): boolean {
  if (typeof set !== 'object' || set === null || !Number.isSafeInteger(until)) return false
  return Object.keys(set).every((name) => Object.hasOwn(RULES, name))
}

/** Whether a policy may have settings in this version of the application: they have its algorithm, and are within its bounds. */
export function isFor(policy: PlannedPolicy, settings: PlannedSettings): boolean {
  const algorithm = 'hold' in policy ? 'slots' : policy.algorithm
  const { concurrent, limit, burst, maxDelay } = settings
  const [own, other] = algorithm === 'slots' ? [concurrent, limit] : [limit, concurrent]
  if (other !== undefined) return false
  if (burst !== undefined && algorithm !== 'token-bucket') return false
  if (maxDelay !== undefined && algorithm !== 'leaky-bucket') return false
  const { limit: bounds = {} } = policy.live === true ? {} : (policy.live ?? {})
  const { min = 0, max = MAX_LIMIT } = bounds
  return !isWhole(own, 0, MAX_LIMIT) || ((own as number) >= min && (own as number) <= max)
}

/** Whether the values of settings are good, of a policy that may have them. */
export function areGood(settings: PlannedSettings): boolean {
  if (settings.dryRun === true && settings.enforce !== undefined) return false
  return Object.entries(settings).every(([name, value]) => RULES[name]?.(value) === true)
}
