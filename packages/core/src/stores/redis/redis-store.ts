import { checkKnown } from '../../options/known.ts'
import { PLACES } from '../../options/places.ts'
import { readOptions } from '../../options/read.ts'
import { OPTIONS } from '../../options/table.ts'
import type { RedisStoreOptions } from '../options.generated.ts'
import type { Keyspace, Ledger, Store } from '../store.ts'
import { checkClient, type RedisClient } from './client.ts'
import { connectionOf } from './connection.ts'
import { readOnlyAlarm } from './read-only-alarm.ts'
import { type Backend, RedisLedger } from './redis-ledger.ts'

/**
 * Keeps states in Redis (6.2 or later) or Valkey (7.2 or later), shared by every process: one
 * `EVALSHA` a decision, whatever the number of policies; in a cluster one for each of its keys. The
 * client is used as it is, never altered, and stays the caller's to connect and to close.
 *
 * @throws SluiceError if it is not a client that can be used
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store<'async'> {
  const connection = connectionOf(checkClient('client', client))
  checkKnown('', options, PLACES.redisStore)
  const values = readOptions(OPTIONS.redisStore, '', options)
  const backend: Backend = { connection, ...timingOf(values.clock), readOnly: alarmOf(options) }
  return {
    mode: 'async',
    clock: options.clock,
    open: (keyspaces: readonly Keyspace[], prefix: string): Ledger<'async'> =>
      new RedisLedger(backend, keyspaces, prefix),
    close() {},
  }
}

function timingOf(clock: (() => number) | undefined): Pick<Backend, 'now' | 'minTtlMs'> {
  if (clock === undefined) return { now: () => -1, minTtlMs: 1000 }
  // TTLs pass on the server's clock: a key must not go while the given one stands still.
  return { now: clock, minTtlMs: 3_600_000 }
}

function alarmOf({ onReadOnly }: RedisStoreOptions): () => void {
  return onReadOnly === undefined ? () => {} : readOnlyAlarm(onReadOnly)
}
