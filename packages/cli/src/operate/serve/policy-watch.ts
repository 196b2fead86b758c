import { hostname } from 'node:os'
import type { InspectableStore } from '@sluice/core'
import {
  type ChangeOptions,
  loadPolicyChanges,
  type PolicyChange,
  type PolicyClientCounter,
  type PolicyClients,
  type PolicyControl,
  type PolicySettings,
  type PolicyState,
  policyControl,
  sharedDocumentsOf,
} from '@sluice/core/operator'
import { UsageError } from '@sluice/terminal/usage-error'
import { lastChangeOf, userOfSystem } from '../policy/policy-changes.ts'
import { type SettingFlags, settingsOf } from '../policy/policy-flags.ts'
import {
  changeText,
  detailTexts,
  historyLines,
  inForceText,
  undoneLines,
} from '../policy/policy-text.ts'
import { type Body, text } from './requests.ts'

/** A live policy as the page shows it. */
export interface PolicyCard {
  /** The name in a form in which nothing changes a character of it. */
  readonly id: string
  readonly name: string
  /** Units in force; undefined if that is a function of the request. */
  readonly limit: number | undefined
  readonly inForce: string
  readonly details: readonly string[]
  /** Why processes ignore its settings. */
  readonly problem: string | undefined
  /** Whether something is set in place of its options. */
  readonly isSet: boolean
  /** Undefined: they have not been read yet, or `--policy` leaves them out. */
  readonly clients: PolicyClients | undefined
}

/** A change of live policies as the page shows it. */
export interface ShownChange {
  readonly number: number
  readonly head: string
  /** The settings that it changed, one line each. */
  readonly lines: readonly string[]
  /** The settings that a rollback to before it would change. */
  readonly undone: readonly string[]
}

export interface PoliciesSnapshot {
  /** The number of the last change. */
  readonly seen: number
  /** The author of changes by default. */
  readonly by: string
  /** How many live policies there are; not all of them may be shown. */
  readonly count: number
  readonly cards: readonly PolicyCard[]
  /** The newest first. */
  readonly history: readonly ShownChange[]
}

/** The most policies, changes and lines of a change that the page shows: it asks for them every second. */
const MAX_CARDS = 100
const MAX_CHANGES = 20
const MAX_LINES = 5

/** Reads and changes live policies for the page. */
export class PolicyWatch {
  readonly #documents: ReturnType<typeof sharedDocumentsOf>
  readonly #control: PolicyControl
  readonly #isFiltered: boolean
  #shown: PoliciesSnapshot
  #clients: ReadonlyMap<string, PolicyClients> = new Map()
  /** Readings come one after the other, so that an older one does not replace a newer one. */
  #reading = Promise.resolve()

  /** @param isFiltered whether the page reads the keys of some policies alone */
  constructor(store: InspectableStore, prefix: string, isFiltered: boolean) {
    this.#documents = sharedDocumentsOf(store, prefix)
    this.#control = policyControl(this.#documents)
    this.#isFiltered = isFiltered
    this.#shown = { seen: 0, by: userOfSystem(), count: 0, cards: [], history: [] }
  }

  look(): PoliciesSnapshot {
    const cards = this.#shown.cards.map((card) => ({
      ...card,
      clients: this.#clientsOf(card.name),
    }))
    return { ...this.#shown, cards }
  }

  /** Reads the settings. Counts come from the reading of all keys: see {@link counter}. */
  read(): Promise<void> {
    if (!this.#documents.isSupported) return this.#reading
    const read = this.#reading.then(() => this.#load())
    this.#reading = read.catch(() => {})
    return read
  }

  /** Counts the clients by the settings in force now; undefined: there are no live policies. */
  async counter(): Promise<PolicyClientCounter | undefined> {
    if (this.#shown.count === 0) return undefined
    const { PolicyClientCounter } = await loadPolicyChanges()
    return PolicyClientCounter.of(this.#documents)
  }

  /** Shows the counts. */
  keep(counter: PolicyClientCounter | undefined): void {
    this.#clients = counter?.clients ?? new Map()
  }

  /**
   * Changes a policy, or goes back to before a change.
   *
   * @param given the body from the page, unchecked
   * @throws UsageError, and SluiceError also if somebody has changed something since the page was read
   */
  async change(given: Body): Promise<Pick<PolicyChange, 'number'>> {
    try {
      const { number } = await this.#write(given)
      return { number }
    } finally {
      await this.read().catch(() => {})
    }
  }

  async #write(given: Body): Promise<PolicyChange> {
    const { action, by, seen } = given
    const options: ChangeOptions = {
      by: text(by) || userOfSystem(),
      from: `page on ${hostname()}`,
      seen: changeNumber(seen),
    }
    if (action === 'rollback') return this.#control.rollback(changeNumber(given.number), options)
    const name = nameOf(given.policy)
    if (action === 'unset') return this.#control.unset(name, options)
    const state = (await this.#control.list()).find((each) => each.name === name)
    const settings = settingsFor(String(action), text(given.value), state)
    const time = text(given.duration) || undefined
    return this.#control.set(name, settings, { ...options, for: time as never })
  }

  async #load(): Promise<void> {
    // A change in between is newer than the one that was seen: the author of the next change learns of it.
    const history = await this.#control.history()
    const states = await this.#control.list()
    this.#shown = {
      ...this.#shown,
      seen: history[0]?.number ?? 0,
      count: states.length,
      cards: states.slice(0, MAX_CARDS).map((state) => cardOf(state, history)),
      history: history.slice(0, MAX_CHANGES).map((change, i) => shownChange(change, history, i)),
    }
  }

  #clientsOf(name: string): PolicyClients | undefined {
    const clients = this.#clients.get(name)
    return this.#isFiltered && clients?.counted === 0 ? undefined : clients
  }
}

function cardOf(state: PolicyState, history: readonly PolicyChange[]): PolicyCard {
  const { name, limit, settings, problem } = state
  const changed = lastChangeOf(name, history)
  return {
    id: encodeURIComponent(name),
    name,
    limit,
    inForce: inForceText(state),
    details: detailTexts({ ...state, changed, own: { clients: 0, isComplete: true } }),
    problem,
    isSet: settings !== undefined,
    clients: undefined,
  }
}

function shownChange(
  change: PolicyChange,
  history: readonly PolicyChange[],
  i: number,
): ShownChange {
  return {
    number: change.number,
    head: changeText(change),
    lines: few(historyLines(change).slice(1)),
    undone: few(undoneLines(history.slice(0, i + 1))),
  }
}

function few(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LINES
  const rest = more > 0 ? [`and ${more} more`] : []
  return [...lines.slice(0, MAX_LINES).map((line) => line.trim()), ...rest]
}

/** The settings of an action of the page. @throws UsageError */
function settingsFor(
  action: string,
  value: string,
  state: PolicyState | undefined,
): PolicySettings {
  const isSlots = state !== undefined && state.windowMs === undefined
  const flags: Record<string, SettingFlags> = {
    limit: isSlots ? { concurrent: value } : { limit: value },
    enforce: { enforce: `${value}%` },
    'dry-run': { dryRun: true },
  }
  if (Object.hasOwn(flags, action)) return settingsOf(flags[action] as SettingFlags)
  throw new UsageError('expected an action of the page')
}

function changeNumber(given: unknown): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given
  throw new UsageError('expected the number of a change')
}

/** @throws UsageError */
function nameOf(id: unknown): string {
  try {
    return decodeURIComponent(text(id))
  } catch {
    throw new UsageError('expected the name of a policy')
  }
}
