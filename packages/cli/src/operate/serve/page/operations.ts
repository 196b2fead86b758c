import { signal } from '@preact/signals'
import { moment } from '@sluice/terminal/words'
import type { ClientStand } from '../../client-stand.ts'
import type { Changed } from '../actions.ts'
import type { PoliciesSnapshot } from '../policy-watch.ts'
import type { Snapshot } from '../store-watch.ts'

/** An action on a client. */
export type Action =
  | { readonly name: 'reset' | 'unblock'; readonly key: string }
  | { readonly name: 'block'; readonly key: string; readonly duration: string }
  | ({ readonly name: 'limit'; readonly key: string } & OwnLimit)

/** A client's own limit in one policy. */
export interface OwnLimit {
  readonly policy: string
  /** Units per window; undefined: the limit of the policy again. */
  readonly units: string | undefined
  /** Undefined: until it is ended. */
  readonly duration: string | undefined
}

/** An action on a live policy, as the user of the page has seen it. */
export interface PolicyAction {
  readonly name: 'policy'
  readonly action: 'limit' | 'dry-run' | 'enforce' | 'unset' | 'rollback'
  /** The action and its object, in words. */
  readonly title: string
  /** The `id` of a card; of `rollback` undefined. */
  readonly policy?: string | undefined
  /** Units, or a share in percent. */
  readonly value?: string
  /** Undefined: until it is changed. */
  readonly duration?: string | undefined
  /** `rollback`: to before which change, and what that changes. */
  readonly number?: number
  readonly undone?: readonly string[]
  readonly by: string
  readonly seen: number
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
  /** The action that waits to be confirmed. */
  readonly asked = signal<Action | PolicyAction | undefined>(undefined)

  start(): void {
    void this.#refresh()
  }

  async find(key: string): Promise<void> {
    await this.#attempt(async () => {
      this.found.value = { typed: key, record: await ask<ClientStand>('inspect', { key }) }
      this.said.value = ''
    })
  }

  ask(action: Action | PolicyAction): void {
    this.asked.value = action
  }

  /** Changes a policy: `by` is remembered for the next change. */
  async confirmPolicy({ name, title, undone, ...body }: PolicyAction): Promise<void> {
    this.asked.value = undefined
    this.by.value = body.by
    await this.#attempt(async () => {
      const { number, policies } = await ask<{ number: number; policies: PoliciesSnapshot }>(
        name,
        body,
      )
      if (this.snapshot.value !== undefined)
        this.snapshot.value = { ...this.snapshot.value, policies }
      this.said.value = `${title}: done, change ${number}`
    })
  }

  async confirm({ name, ...body }: Action): Promise<void> {
    this.asked.value = undefined
    await this.#attempt(async () => {
      const { changed, until } = await ask<Changed>(name, body)
      const where = `${changed} ${changed === 1 ? 'policy' : 'policies'}`
      const end = until === undefined ? '' : `, until ${moment(until)}`
      const said =
        changed === 0
          ? `nothing to ${name} for ${body.key}`
          : `${name} ${body.key}: done in ${where}${end}`
      if (this.found.value !== undefined) await this.find(this.found.value.typed)
      this.said.value = said
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

/** @throws Error with the server's message */
async function ask<T>(name: string, body?: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' }
  const post = body && { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(name, post ?? {})
  const value = (await response.json()) as T & { problem?: string }
  if (!response.ok) throw new Error(value.problem)
  return value
}
