import { readStoreOptions } from '../../options/read.ts'
import { readInspectOptions } from '../inspection/inspect-options.ts'
import type { RedisStoreOptions } from '../options.generated.ts'
import type { InspectableStore, InspectOptions, StoreEntry } from '../store.ts'
import { checkClient, type RedisClient, warnOfUnguarded } from './client.ts'
import { connectionOf } from './connection.ts'
import { scansOf } from './masters.ts'
import { readOnlyAlarm } from './read-only-alarm.ts'
import { RedisInspection } from './redis-inspection.ts'
import { type Backend, RedisLedger } from './redis-ledger.ts'
import { toSetupError } from './setup-error.ts'

/**
 * Keeps states in Redis (6.2 or later) or Valkey (7.2 or later), shared by every process: one
 * `EVALSHA` a decision, whatever the number of policies; in a cluster one for each of its keys. The
 * client is used as it is, never altered, and stays the caller's to connect and to close. To list
 * keys (`inspect`), it may also run `SCAN`.
 *
 * @throws SluiceError if it is not a client that can be used
 */
export function redisStore(
  client: RedisClient,
  options: RedisStoreOptions = {},
): InspectableStore<'async'> {
  const connection = connectionOf(checkClient('client', client))
  const values = readStoreOptions('redisStore', options)
  warnOfUnguarded(client)
  const backend: Backend = { connection, ...timingOf(values.clock), readOnly: alarmOf(options) }
  return {
    mode: 'async',
    clock: options.clock,
    open: (keyspaces, prefix) => new RedisLedger(backend, keyspaces, prefix),
    inspect: (wanted) => inspect(client, backend, wanted),
    close() {},
  }
}

function inspect(
  client: RedisClient,
  { connection, clock, minTtlMs }: Backend,
  options: InspectOptions | undefined,
): AsyncIterable<StoreEntry> {
  const fail = (error: unknown) => {
    throw toSetupError(error, connection.isCluster)
  }
  const scans = () => scansOf(client)
  const backend = { connection, now: clock ?? (() => -1), minTtlMs, scans, fail }
  return new RedisInspection(backend, readInspectOptions(options)).entries()
}

function timingOf(clock: (() => number) | undefined): Pick<Backend, 'clock' | 'minTtlMs'> {
  if (clock === undefined) return { clock, minTtlMs: 1000 }
  // TTLs pass on the server's clock: a key must not go while the given one stands still.
  return { clock, minTtlMs: 3_600_000 }
}

function alarmOf({ onReadOnly }: RedisStoreOptions): () => void {
  return onReadOnly === undefined ? () => {} : readOnlyAlarm(onReadOnly)
}
