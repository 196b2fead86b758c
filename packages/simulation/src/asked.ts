import type { Change, Charge, Keyspace } from '@sluice/core/store'
import type { BanSpace } from './checks/bans.ts'

/** A call of a ledger, which the audit learns of when the store runs its script. */
export interface Asked {
  /** The requests to decide, or the change. */
  readonly requests?: readonly (readonly Charge[])[]
  readonly change?: Change
  /** Whether nothing is to be charged, nor counted. */
  readonly isPeek?: boolean | undefined
  /** What the ledger was opened with. */
  readonly keyspaces: readonly Keyspace[]
  readonly prefix: string
  /** The numbers of the ledger's policies among those of the limiter. */
  readonly places: readonly number[]
  /** For each of its policies: the numbers of all that share what clients have of their own. */
  readonly records: readonly (readonly number[])[]
  /** Where it counts what it refuses; undefined: nowhere. */
  readonly space: BanSpace | undefined
  /** ms of the simulation. */
  readonly sentAt: number
}

/** What a store tells while it runs the script of a call. */
export interface Learning {
  /** What is being asked of a ledger; undefined: the store asks something by itself. */
  asked(): Asked | undefined
  /** @param value what the transaction has made of it */
  ran(asked: Asked, value: unknown, now: number): void
}

/** The name of a key on a server: between braces, of which one with a shard has two pairs. */
export function nameIn(prefix: string, key: string, keyspace: string): string {
  const name = key.startsWith('{') ? key.replace(/^(\{[^}]*\})(.*)$/, '$1{$2}') : `{${key}}`
  return `${prefix}:${name}:${keyspace}`
}
