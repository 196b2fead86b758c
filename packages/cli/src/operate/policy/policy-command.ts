import { hostname } from 'node:os'
import type { InspectableStore } from '@sluice/core'
import {
  type ChangeOptions,
  loadPolicyChanges,
  type PolicyChange,
  type PolicyControl,
  parseDuration,
  policyControl,
  SluiceError,
  sharedDocumentsOf,
} from '@sluice/core/operator'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableLines, printableReport } from '@sluice/terminal/printable'
import { duration } from '@sluice/terminal/words'
import { readLimitsFile } from '../../limits-file.ts'
import { agrees, checkAsking } from '../change-words.ts'
import type { Connection } from '../connection.ts'
import { reportedReading, sayUnreadable } from '../reading.ts'
import { StoreFailure } from '../store-failure.ts'
import { lastChangeOf, userOfSystem } from './policy-changes.ts'
import { changeNumber, type PolicyFlags, settingsOf } from './policy-flags.ts'
import {
  differenceLine,
  historyLines,
  type ListedPolicy,
  policyLines,
  previewLines,
  settingsText,
  undoneLines,
} from './policy-text.ts'

/** How long `list` looks for clients that have a limit of their own, ms. */
const OWN_LIMITS_MS = 2000
/** The most clients of a policy that are counted there. */
const MAX_OWN = 100_000

/** The commands of `sluice policy`. */
export type PolicyAction = 'list' | 'history' | 'diff' | 'set' | 'unset' | 'apply' | 'rollback'

/**
 * `sluice policy`. Asks before it changes anything, unless `--yes`.
 *
 * @param argument the name of a policy, a file, or the number of a change, as the action needs it
 * @throws UsageError and SluiceError about what was typed
 */
export async function policyCommand(
  action: PolicyAction,
  argument: string | undefined,
  flags: PolicyFlags,
  { store }: Connection,
  io: Io,
): Promise<ExitCode> {
  return new PolicyCommand(store, flags, io)[action](argument as string)
}

class PolicyCommand {
  readonly #store: InspectableStore
  readonly #flags: PolicyFlags
  readonly #io: Io
  readonly #control: PolicyControl

  constructor(store: InspectableStore, flags: PolicyFlags, io: Io) {
    this.#store = store
    this.#flags = flags
    this.#io = io
    this.#control = policyControl(sharedDocumentsOf(store, flags.prefix))
  }

  async list(): Promise<ExitCode> {
    const { prefix } = this.#flags
    const states = await this.#control.list()
    const history = await this.#control.history()
    const own = states.length === 0 ? undefined : await this.#ownLimits()
    const listed = states.map((state): ListedPolicy => {
      const clients = own?.clients.get(state.name)?.size ?? 0
      return {
        ...state,
        changed: lastChangeOf(state.name, history),
        own: { clients, isComplete: own?.isComplete ?? true },
      }
    })
    const none = `no policy with the option live has counted anybody lately under the prefix ${prefix}`
    return this.#write(listed, listed.length === 0 ? [none] : listed.flatMap(policyLines))
  }

  async history(): Promise<ExitCode> {
    const changes = await this.#control.history()
    const none = `nothing was changed yet under the prefix ${this.#flags.prefix}`
    const forgotten = (changes.at(-1)?.number ?? 1) - 1
    const older = forgotten === 0 ? [] : [`changes up to ${forgotten} are forgotten`]
    const lines = [...changes.flatMap(historyLines), ...older]
    return this.#write(changes, changes.length === 0 ? [none] : lines)
  }

  async diff(file: string): Promise<ExitCode> {
    const differences = await this.#control.diff(readLimitsFile(file))
    const lines = differences.map(differenceLine)
    return this.#write(differences, lines.length === 0 ? ['no difference'] : lines)
  }

  async #preview(name: string): Promise<ExitCode> {
    const reading = reportedReading(this.#io.stderr)
    const { prefix } = this.#flags
    const settings = settingsOf(this.#flags)
    const { previewPolicy } = await loadPolicyChanges()
    const found = await previewPolicy(this.#store, prefix, name, settings, reading.onProgress)
    sayUnreadable(reading, this.#io.stderr)
    return this.#write(found, previewLines(found))
  }

  async set(name: string): Promise<ExitCode> {
    if (this.#flags.preview) return this.#preview(name)
    const settings = settingsOf(this.#flags)
    const forMs =
      this.#flags.for === undefined ? undefined : parseDuration('--for', this.#flags.for)
    const time = forMs === undefined ? '' : ` for ${duration(forMs)}`
    const what = `set ${settingsText(settings)} of ${name}${time}`
    return this.#change('set', what, async () => {
      // An error is reported before anybody is asked.
      await this.#control.diff({ [name]: settings })
      return {
        lines: await this.#linesOf(name),
        write: (options) => this.#control.set(name, settings, { ...options, for: forMs }),
      }
    })
  }

  async unset(name: string): Promise<ExitCode> {
    return this.#change('unset', `let the code decide ${name}`, async () => ({
      lines: await this.#linesOf(name),
      write: (options) => this.#control.unset(name, options),
    }))
  }

  async apply(file: string): Promise<ExitCode> {
    const policies = readLimitsFile(file)
    return this.#change('apply', `apply ${file}`, async () => {
      const differences = await this.#control.diff(policies)
      if (differences.length === 0) return undefined
      const lines = differences.map(differenceLine)
      return { lines, replaces: true, write: (options) => this.#control.apply(policies, options) }
    })
  }

  async rollback(text: string | undefined): Promise<ExitCode> {
    const number = changeNumber(text)
    const what =
      number === undefined ? 'undo the last change' : `undo change ${number} and later ones`
    return this.#change('rollback', what, async () => {
      const history = await this.#control.history()
      const first = number ?? history[0]?.number ?? 0
      const lines = undoneLines(history.filter((each) => each.number >= first))
      return { lines, replaces: true, write: (options) => this.#control.rollback(number, options) }
    })
  }

  /**
   * Asks, and changes.
   *
   * @param prepare returns the difference that it would make; undefined: none
   */
  async #change(
    action: string,
    what: string,
    prepare: () => Promise<Prepared | undefined>,
  ): Promise<ExitCode> {
    const flags = this.#flags
    const io = this.#io
    checkAsking(io, flags, action)
    const last = (await this.#control.history())[0]?.number ?? 0
    const prepared = await prepare()
    if (prepared === undefined) return this.#write(null, ['nothing to change'])
    if (!flags.json) io.stdout.write(`${prepared.lines.join('\n')}\n`)
    const asked = printable(`${what} (prefix ${flags.prefix})`)
    if (!flags.yes && !(await agrees(io, `${asked}?`))) return EXIT.failed
    // The user has agreed to the difference that was shown. Replacing all would undo later changes of others.
    const seen = flags.yes && !prepared.replaces ? undefined : last
    const { by = userOfSystem() } = flags
    try {
      const made = await prepared.write({ by, from: `command on ${hostname()}`, seen })
      const [newest] = await this.#control.history()
      if ((newest?.number ?? 0) < made.number)
        throw new StoreFailure(
          `${asked}: the store does not show change ${made.number}, although it has confirmed it`,
        )
      return this.#write(made, [`done: ${asked}: change ${made.number}`])
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== 'SLUICE_POLICY_CHANGED') throw error
      io.stderr.write(`${printableLines(error.message)}\n`)
      return EXIT.failed
    }
  }

  /** How a policy is now. */
  async #linesOf(name: string): Promise<string[]> {
    const state = (await this.#control.list()).find((each) => each.name === name)
    if (state === undefined) return []
    return policyLines({ ...state, changed: undefined, own: { clients: 0, isComplete: true } })
  }

  /** The clients that have a limit of their own, by policies. */
  async #ownLimits(): Promise<{ clients: Map<string, Set<string>>; isComplete: boolean }> {
    const { prefix, all = false } = this.#flags
    const policies = new Map<string, string>()
    const { keyspacesOfPolicies } = await loadPolicyChanges()
    for (const [id, keyspaces] of await keyspacesOfPolicies(sharedDocumentsOf(this.#store, prefix)))
      for (const each of keyspaces) policies.set(`${each.prefix} ${each.name}`, id)
    const clients = new Map([...policies.values()].map((id) => [id, new Set<string>()]))
    const until = performance.now() + OWN_LIMITS_MS
    const reading = reportedReading(this.#io.stderr)
    const { onProgress } = reading
    for await (const entry of this.#store.inspect({ prefix, onProgress })) {
      if (!all && performance.now() > until) return { clients, isComplete: false }
      if (entry.override === undefined && entry.granted === 0) continue
      const id = policies.get(`${entry.prefix} ${entry.keyspace.name}`)
      const known = id === undefined ? undefined : clients.get(id)
      known?.add(entry.key)
      if (known?.size === MAX_OWN) return { clients, isComplete: false }
    }
    return { clients, isComplete: true }
  }

  #write(result: unknown, lines: readonly string[]): typeof EXIT.ok {
    const text = this.#flags.json
      ? JSON.stringify(printableReport(result), null, 2)
      : lines.join('\n')
    this.#io.stdout.write(`${text}\n`)
    return EXIT.ok
  }
}

/** A change that is ready to be made. */
interface Prepared {
  readonly lines: readonly string[]
  /** Whether it replaces the settings of other policies too. */
  readonly replaces?: boolean
  readonly write: (options: ChangeOptions) => Promise<PolicyChange>
}
