import type { InspectOptions, StoreEntry } from '@sluice/core'
import { parseDuration } from '@sluice/core/operator'
import { UsageError } from '@sluice/terminal/usage-error'
import type { LimitFlags } from './flags.ts'

/** A change of one client, or of networks. */
export type Change =
  | { readonly action: 'reset' | 'unblock' }
  | { readonly action: 'block'; readonly durationMs: number }
  /** Units per window, and for how long: undefined: until it is ended. */
  | { readonly action: 'limit'; readonly units: number; readonly durationMs: number | undefined }
  | { readonly action: 'unlimit' }

/** `1h` as it was typed. @throws SluiceError */
export function blockFor(text: string): Change {
  return { action: 'block', durationMs: parseDuration('duration', text) }
}

/** `20000` and `30d` as they were typed. @throws UsageError and SluiceError */
export function limitTo(text: string | undefined, flags: Pick<LimitFlags, 'for' | 'end'>): Change {
  if (flags.end) {
    if (text === undefined && flags.for === undefined) return { action: 'unlimit' }
    throw new UsageError(
      '--end: the limit is the one of the policy again, so leave the units and --for out',
    )
  }
  if (text === undefined || !/^\d{1,13}$/.test(text))
    throw new UsageError(`expected the units of the limit, or --end, received '${text ?? ''}'`)
  const durationMs = flags.for === undefined ? undefined : parseDuration('--for', flags.for)
  return { action: 'limit', units: Number(text), durationMs }
}

/** Which entries of a store to look at. */
export type EntryFilter = Pick<InspectOptions, 'policy'> & { readonly prefix: string }

/** A change that is ready to be made. */
export interface Plan {
  /** The client, or the network if it is one. */
  readonly key?: string | undefined
  /** The keyspaces or networks that it changes, as JSON has them. None: there is nothing to change. */
  readonly places: readonly object[]
  /** The change in words, printable. */
  readonly what: string
  /** Why there is nothing to change, if so. */
  readonly nothing: string
  /** What its user should know before. */
  readonly note: string | undefined
  /** Makes it, and reads it back. @throws StoreFailure if the store does not show it then */
  make(): Promise<Made>
}

/** How a client stands once a change was made, as the store has it. */
export interface Made {
  /** When the change ends by itself, ms on the store's clock; undefined: it does not. */
  readonly until: number | undefined
  /** All policies of the client. */
  readonly entries: readonly StoreEntry[]
}
