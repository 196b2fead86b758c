import { checkClock, checkKnown } from '../../options/checks.ts'
import type { Ledger, Space, Store } from '../store.ts'
import { checkClient, type RedisClient } from './client.ts'
import { RedisLedger } from './redis-ledger.ts'

export interface RedisStoreOptions {
  /** Integer ms since the epoch, for tests. Default: the server's `TIME`, read by the script. */
  clock?: () => number
}

/** When the script is to think it is, and how long its keys live at least. */
export interface Timing {
  /** ms, or -1: the server's clock. */
  now(): number
  minTtlMs: number
}

/**
 * Keeps states in Redis (6.2 or later, or Valkey), shared by every process that uses it: one
 * `EVALSHA` a decision, whatever the number of policies. The client is used as it is, never
 * altered, and stays the caller's to close.
 *
 * @throws SluiceError if it is not a client that can be used
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store<'async'> {
  const checked = checkClient('client', client)
  checkKnown('', options, ['clock'])
  const timing = timingOf(options)
  return {
    mode: 'async',
    clock: options.clock,
    open: (spaces: readonly Space[], prefix: string): Ledger<'async'> =>
      new RedisLedger(checked, timing, spaces, prefix),
    close() {},
  }
}

function timingOf({ clock }: RedisStoreOptions): Timing {
  if (clock === undefined) return { now: () => -1, minTtlMs: 1000 }
  // TTLs pass on the server's clock: a key must not go while the given one stands still.
  return { now: checkClock(clock), minTtlMs: 3_600_000 }
}
