import { DOCUMENT_KEY, type Layers, readDocument } from '../documents.ts'
import type { Run } from '../run.ts'
import type { Witness } from '../server.ts'

/** How many changes a document remembers. */
const MAX_HISTORY = 50

/** What the store has had as the document, and whether each change keeps what was there before. */
export class StoredPolicies implements Witness {
  /** The texts that somebody has written by hand. */
  readonly byHand = new Set<string>()
  /** Who has changed it, and when, ms of the simulation. */
  readonly writers: { readonly by: string; readonly at: number }[] = []
  #numbers = 0
  readonly #all: { readonly from: number; readonly text: string }[] = [{ from: 0, text: '' }]
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** A number for who changes it. */
  nextNumber(): number {
    this.#numbers += 1
    return this.#numbers
  }

  /** The versions that the store has had from a time on, ms of the simulation. */
  since(from: number): ReadonlySet<string> {
    const all = this.#all
    const later = all.filter((_, i) => i === all.length - 1 || (all[i + 1]?.from ?? 0) >= from)
    return new Set(later.map(({ text }) => text.slice(0, 16)))
  }

  undone(): void {
    this.#look()
  }

  lost(key: string): void {
    if (key === DOCUMENT_KEY) this.#note('')
  }

  clockStepped(): void {}

  wrote(): void {
    const before = this.#text
    const after = this.#look()
    // A process writes again what the store has lost.
    const isRestored = before === '' && this.#all.slice(0, -1).some(({ text }) => text === after)
    if (after !== before && !isRestored && !this.byHand.has(after)) this.#checkChange(before, after)
  }

  get #text(): string {
    return this.#all.at(-1)?.text ?? ''
  }

  /** Reads what the store has. */
  #look(): string {
    const value = this.#run.cluster.serverOf(DOCUMENT_KEY).valueOf(DOCUMENT_KEY) ?? ''
    const text = typeof value === 'string' ? value : new TextDecoder().decode(value as Uint8Array)
    this.#note(text)
    return text
  }

  #note(text: string): void {
    if (text !== this.#text) this.#all.push({ from: this.#run.timeline.now, text })
  }

  /** A change adds itself to the history, and leaves what it is not about. */
  #checkChange(before: string, after: string): void {
    const known = readDocument(before) ?? { policies: {}, history: [] }
    const next = readDocument(after)
    const change = next?.history.at(-1)
    if (next === undefined || change === undefined) {
      this.#run.fail('history', 'a change writes no document')
      return
    }
    this.writers.push({ by: change.by, at: this.#run.timeline.now })
    const earlier = next.history.slice(0, -1)
    const isKept = same(earlier, known.history.slice(-earlier.length || known.history.length))
    const number = (known.history.at(-1)?.number ?? 0) + 1
    const isWhole = earlier.length === Math.min(MAX_HISTORY - 1, known.history.length)
    if (!isKept || !isWhole || change.number !== number)
      this.#run.fail('history', `change ${change.number} by ${change.by} loses some before it`)
    const policies = withoutNone({ ...known.policies, ...change.after })
    if (!same(sorted(policies), sorted(next.policies)))
      this.#run.fail('history', `change ${change.number} by ${change.by} is not what was written`)
    for (const [id, layers] of Object.entries(change.before))
      if (!same(layers, known.policies[id] ?? []))
        this.#run.fail('history', `change ${change.number} did not see the settings of ${id}`)
  }
}

function withoutNone(policies: Layers): Layers {
  return Object.fromEntries(Object.entries(policies).filter(([, layers]) => layers.length > 0))
}

function sorted(policies: Layers): unknown {
  return Object.entries(policies).sort(([one], [other]) => (one < other ? -1 : 1))
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
