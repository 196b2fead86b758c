import type {
  PolicyChange,
  PolicyDifference,
  PolicyPreview,
  PolicySettings,
  PolicyState,
  SettingsLayer,
} from '@sluice/core/operator'
import { printable } from '@sluice/terminal/printable'
import { count, duration, moment, number, percent } from '@sluice/terminal/words'
import type { ChangeHead } from './policy-changes.ts'

/** A policy, its settings in force, and further findings of the command. */
export interface ListedPolicy extends PolicyState {
  /** The last change of its settings that is remembered. */
  readonly changed: ChangeHead | undefined
  /** The clients that have a limit of their own in it, or top-ups; at least so many if not all keys were read. */
  readonly own: { readonly clients: number; readonly isComplete: boolean }
}

/** The most characters of a value that are shown: a document may say anything. */
const MAX_SHOWN = 60
const AS_IN_CODE = 'as in the code'

const WORDS: Readonly<Record<string, string>> = { maxDelay: 'max delay', alertAt: 'alert at' }

/** `limit 200, enforce 10 %`; of no settings `as in the code` */
export function settingsText(settings: PolicySettings | undefined): string {
  const texts = Object.entries(settings ?? {}).map(settingText)
  return texts.length === 0 ? AS_IN_CODE : texts.join(', ')
}

function settingText([name, value]: [string, unknown]): string {
  if (name === 'dryRun') return value === true ? 'dry run' : 'no dry run'
  const values = Array.isArray(value) ? value : [value]
  return `${WORDS[name] ?? name} ${values.map((each) => valueText(name, each)).join(' and ')}`
}

function valueText(name: string, value: unknown): string {
  if (typeof value !== 'number') return String(JSON.stringify(value)).slice(0, MAX_SHOWN)
  if (name === 'enforce' || name === 'alertAt') return percent(value)
  return name === 'maxDelay' ? duration(value) : number(value)
}

/** `limit 100; limit 200 until 2026-11-24 12:44:10 UTC` */
function layersText(layers: readonly SettingsLayer[]): string {
  const texts = layers.map(({ set, until }) => {
    return settingsText(set) + (until === undefined ? '' : ` until ${moment(until)}`)
  })
  return texts.length === 0 ? AS_IN_CODE : texts.join('; ')
}

/** The lines of `list`. */
export function policyLines(policy: ListedPolicy): string[] {
  const details = detailTexts(policy).map((each) => `  ${each}`)
  return [`${policy.name}: ${inForceText(policy)}`, ...details].map(printable)
}

/** The details of a policy besides its settings in force. */
export function detailTexts({
  settings,
  until,
  bounds,
  changed,
  own,
  problem,
}: ListedPolicy): string[] {
  const end = until === undefined ? '' : `, until ${moment(until)}`
  return [
    settings === undefined ? AS_IN_CODE : `set: ${settingsText(settings)}${end}`,
    bounds === undefined ? [] : `bounds: ${number(bounds.min)} to ${number(bounds.max)}`,
    changed === undefined ? [] : `last change: ${changeText(changed)}`,
    own.clients === 0 && own.isComplete ? [] : ownText(own),
    problem === undefined ? [] : `ignored by the processes that have it: ${problem}`,
  ].flat()
}

/** `200 per 1 min (sliding-window; 100 in the code), refuses 10 % of the clients` */
export function inForceText({
  limit,
  codeLimit,
  windowMs,
  algorithm,
  enforced,
}: PolicyState): string {
  const amount = limitText(limit)
  const code = limit === codeLimit ? '' : `; ${limitText(codeLimit)} in the code`
  const per = windowMs === undefined ? 'at a time' : `per ${duration(windowMs)}`
  return `${amount} ${per} (${algorithm}${code})${enforcedText(enforced)}`
}

function limitText(limit: number | undefined): string {
  return limit === undefined ? 'a limit by request' : number(limit)
}

function enforcedText(enforced: number): string {
  if (enforced === 1) return ''
  return enforced === 0 ? ', a dry run' : `, refuses ${percent(enforced)} of the clients`
}

function ownText({ clients, isComplete }: ListedPolicy['own']): string {
  const found = count(clients, 'client')
  return `limits of their own: ${isComplete ? found : `at least ${found}; --all reads all keys`}`
}

/** `12, set by ada (command on laptop), 2026-11-24 12:44:10 UTC` */
export function changeText({ number, action, by, from, at }: ChangeHead): string {
  return `${number}, ${action} by ${by} (${from}), ${moment(at)}`
}

/** The lines of `history`: the change, and its settings. */
export function historyLines(change: PolicyChange): string[] {
  const { before, after } = change
  const lines = Object.entries(after).map(([name, layers]) => {
    const last = Object.hasOwn(before, name) ? before[name] : undefined
    return `  ${name}: ${layersText(last ?? [])} → ${layersText(layers)}`
  })
  return [changeText(change), ...lines].map(printable)
}

/** The lines of the settings that a rollback brings back. @param undone the newest first */
export function undoneLines(undone: readonly PolicyChange[]): string[] {
  const now = new Map<string, readonly SettingsLayer[]>()
  const then = new Map<string, readonly SettingsLayer[]>()
  for (const { before, after } of undone) {
    for (const [name, layers] of Object.entries(after)) if (!now.has(name)) now.set(name, layers)
    for (const [name, layers] of Object.entries(before)) then.set(name, layers)
  }
  return [...then].map(([name, layers]) => {
    return printable(`  ${name}: ${layersText(now.get(name) ?? [])} → ${layersText(layers)}`)
  })
}

/** `  api: as in the code → limit 200` */
export function differenceLine({ name, before, after }: PolicyDifference): string {
  return printable(`  ${name}: ${settingsText(before)} → ${settingsText(after)}`)
}

/** The result of `set --preview`, in lines. */
export function previewLines(preview: PolicyPreview): string[] {
  const { name, limit, enforced, clients, exhausted, over, refused, own, unknown } = preview
  return [
    `${name} with ${limitText(limit)}${enforcedText(enforced)}:`,
    `  ${count(clients, 'client')} counted now, ${number(exhausted)} with nothing left`,
    `  ${number(over)} would have nothing left, ${number(refused)} of them would be refused`,
    own === 0 ? [] : `  ${number(own)} with a limit of their own, which stays`,
    unknown === 0 ? [] : `  ${number(unknown)} that can't be told`,
    'nothing was changed',
  ]
    .flat()
    .map(printable)
}
