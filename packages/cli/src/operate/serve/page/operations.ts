import { signal } from '@preact/signals'
import { moment } from '@sluice/terminal/words'
import type { ClientStand } from '../../client-stand.ts'
import type { Changed } from '../client-requests.ts'
import type { Snapshot } from '../store-watch.ts'

/** A change that waits for the user's answer, and the request that makes it. */
export interface Question {
  /** The change and its object, in words: `reset 203.0.113.7`. */
  readonly title: string
  readonly effect: string
  /** Lines about what else it changes. */
  readonly lines?: readonly string[]
  readonly fields?: readonly Field[]
  /** The text of the button. */
  readonly yes: string
  readonly path: string
  /** The body of the request, besides the fields by their names. */
  readonly body: Readonly<Record<string, string | number>>
}

/** A value that the user chooses or types. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  /** Each with its words; undefined: any text. */
  readonly choices?: readonly (readonly [string, string])[]
  /** Matches the text of a number. */
  readonly pattern?: string
}

const TIMES = [
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['365d', '365 days'],
] as const

/** @param forever words for no end; undefined: there has to be one */
export function howLong(value: string, forever?: string): Field {
  const choices = forever === undefined ? TIMES : [...TIMES, ['', forever] as const]
  return { name: 'duration', label: 'How long', value, choices }
}

export interface FoundClient {
  /**
   * The client as it was typed: in the answer, characters that a terminal or a page obeys are spelled out.
   */
  readonly typed: string
  readonly record: ClientStand
}

/** The pause between two questions, ms. */
const EVERY_MS = 1000

/** The state of the page, and its requests to the server. */
export class Operations {
  readonly snapshot = signal<Snapshot | undefined>(undefined)
  /** Why the server does not answer. */
  readonly lost = signal<string | undefined>(undefined)
  /** The client that was looked for. */
  readonly found = signal<FoundClient | undefined>(undefined)
  /** The result of the last action, in words. */
  readonly said = signal('')
  /** The author of changes, if the user has given one. */
  readonly by = signal<string | undefined>(undefined)
  readonly asked = signal<Question | undefined>(undefined)

  start(): void {
    void this.#refresh()
  }

  async find(key: string): Promise<void> {
    await this.#attempt(async () => {
      this.found.value = { typed: key, record: await ask<ClientStand>('inspect', { key }) }
      this.said.value = ''
    })
  }

  /** Makes the change. @param fields as the user has filled them in */
  async confirm({ title, path, body }: Question, fields: FormData): Promise<void> {
    this.asked.value = undefined
    const by = fields.get('by')
    if (by !== null) this.by.value = String(by)
    await this.#attempt(async () => {
      const done = await ask<Done>(path, { ...body, ...Object.fromEntries(fields) })
      if (this.found.value !== undefined) await this.find(this.found.value.typed)
      this.said.value = `${title}: ${doneText(done)}`
      this.snapshot.value = await ask<Snapshot>('state')
    })
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.said.value = (error as Error).message
    }
  }

  async #refresh(): Promise<void> {
    try {
      // In the background nobody looks.
      if (!document.hidden) this.snapshot.value = await ask<Snapshot>('state')
      this.lost.value = undefined
    } catch {
      this.lost.value = 'The server does not answer. Is sluice serve still running?'
    }
    setTimeout(() => void this.#refresh(), EVERY_MS)
  }
}

/** The result of a change: of a client, or of a live policy. */
type Done = Changed | { readonly number: number }

function doneText(done: Done): string {
  if ('number' in done) return `done, change ${done.number}`
  const { changed, until } = done
  if (changed === 0) return 'there was nothing to change'
  const end = until === undefined ? '' : `, until ${moment(until)}`
  return `done in ${changed} ${changed === 1 ? 'policy' : 'policies'}${end}`
}

/** @throws Error with the server's message */
async function ask<T>(name: string, body?: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' }
  const post = body && { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(name, post ?? {})
  const value = (await response.json()) as T & { problem?: string }
  if (!response.ok) throw new Error(value.problem)
  return value
}
