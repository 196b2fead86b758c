import { readStoreOptions } from '../../options/read.ts'
import { readInspectOptions, type Wanted } from '../inspection/inspect-options.ts'
import { KeptKeyspaces } from '../inspection/kept-keyspaces.ts'
import type { RedisStoreOptions } from '../options.generated.ts'
import type { InspectableStore, StoreEntry } from '../store.ts'
import { checkClient, type RedisClient, warnOfUnguarded } from './client.ts'
import { RedisConnection } from './connection.ts'
import { scansOf } from './masters.ts'
import { redisDocuments } from './redis-documents.ts'
import { RedisLedger } from './redis-ledger.ts'

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
  checkClient('client', client)
  const { clock } = readStoreOptions('redisStore', options)
  warnOfUnguarded(client)
  const connection = new RedisConnection(client, clock, options.onReadOnly)
  const documents = redisDocuments(connection)
  const kept = new KeptKeyspaces(documents)
  async function* entries(wanted: Wanted): AsyncGenerator<StoreEntry, void, undefined> {
    const { RedisInspection } = await import('./redis-inspection.ts')
    yield* new RedisInspection(connection, () => scansOf(client), wanted, kept).entries()
  }
  return {
    mode: 'async',
    clock: options.clock,
    documents,
    open: (keyspaces, prefix) => new RedisLedger(connection, keyspaces, prefix, kept),
    inspect: (options) => entries(readInspectOptions(options)),
    close() {},
  }
}
