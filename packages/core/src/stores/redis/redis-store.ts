import { checkClock, checkFunction, checkKnown } from '../../options/checks.ts'
import type { Keyspace, Ledger, Store } from '../store.ts'
import { checkClient, type RedisClient } from './client.ts'
import { connectionOf } from './connection.ts'
import { readOnlyAlarm } from './read-only-alarm.ts'
import { type Backend, RedisLedger } from './redis-ledger.ts'

export interface RedisStoreOptions {
  /** Integer ms since the epoch, for tests. Default: the server's `TIME`, read by the script. */
  clock?: () => number
  /**
   * Called, at most once in 1,000 ms, when the server says that it is a read-only replica: after a
   * failover the client may still be connected to the old master. The store never touches the
   * client's connection, so the owner lets it connect anew here: node-redis stays where it is
   * otherwise. May be async; what it throws becomes a warning.
   */
  onReadOnly?: () => unknown
}

/**
 * Keeps states in Redis (6.2 or later, or Valkey), shared by every process that uses it: one
 * `EVALSHA` a decision, whatever the number of policies; in a cluster one for each of its keys. The
 * client is used as it is, never altered, and stays the caller's to connect and to close.
 *
 * @throws SluiceError if it is not a client that can be used
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store<'async'> {
  const connection = connectionOf(checkClient('client', client))
  checkKnown('', options, ['clock', 'onReadOnly'])
  const backend: Backend = { connection, ...timingOf(options), readOnly: alarmOf(options) }
  return {
    mode: 'async',
    clock: options.clock,
    open: (keyspaces: readonly Keyspace[], prefix: string): Ledger<'async'> =>
      new RedisLedger(backend, keyspaces, prefix),
    close() {},
  }
}

function timingOf({ clock }: RedisStoreOptions): Pick<Backend, 'now' | 'minTtlMs'> {
  if (clock === undefined) return { now: () => -1, minTtlMs: 1000 }
  // TTLs pass on the server's clock: a key must not go while the given one stands still.
  return { now: checkClock(clock), minTtlMs: 3_600_000 }
}

function alarmOf({ onReadOnly }: RedisStoreOptions): () => void {
  if (onReadOnly === undefined) return () => {}
  return readOnlyAlarm(checkFunction('onReadOnly', onReadOnly, '()'))
}
