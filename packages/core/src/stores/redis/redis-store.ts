import { afterAsking } from '#platform'
import { readStoreOptions } from '../../options/read.ts'
import { readInspectOptions, type Wanted } from '../inspection/inspect-options.ts'
import { LoadingLedger } from '../loading-ledger.ts'
import type { RedisStoreOptions } from '../options.generated.ts'
import type { Documents, InspectableStore, Keyspace, Ledger, StoreEntry } from '../store.ts'
import { checkClient, isCluster, type RedisClient, warnOfUnguarded } from './client.ts'
import { shardOf } from './hash-slots.ts'
import type { RedisParts } from './redis-parts.ts'

/**
 * Counts in Redis (6.2 or later) or Valkey (7.2 or later), shared by all processes. A decision is
 * one `EVALSHA`, for any number of policies; in a cluster, one per key. The client is not altered:
 * you connect and close it. To list keys (`inspect`), it may also run `SCAN`.
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
  let parts: RedisParts | undefined
  /** The ledger that was opened last. Requests while it is loaded are sent together, over REST in one call. */
  let opening: Promise<unknown> | undefined
  async function load(): Promise<RedisParts> {
    const { RedisParts } = await import('./redis-parts.ts')
    parts ??= new RedisParts(client, clock, options.onReadOnly)
    return parts
  }
  function openLedger(keyspaces: readonly Keyspace[], prefix: string): Promise<Ledger<'async'>> {
    const ledger = load().then((loaded) => loaded.open(keyspaces, prefix))
    opening = ledger
    return ledger
  }
  function withDocuments<T>(ask: (documents: Documents<'async'>) => Promise<T>): Promise<T> {
    if (parts !== undefined) return ask(parts.documents)
    return (opening ?? load()).then(() => {
      return new Promise((resolve) => {
        afterAsking(() => resolve(ask((parts as RedisParts).documents)))
      })
    })
  }
  async function* entries(wanted: Wanted): AsyncGenerator<StoreEntry, void, undefined> {
    yield* (await load()).entries(wanted)
  }
  return {
    mode: 'async',
    clock: options.clock,
    documents: {
      read: (...given) => withDocuments((documents) => documents.read(...given)),
      replace: (...given) => withDocuments((documents) => documents.replace(...given)),
    },
    open: (keyspaces, prefix) =>
      new LoadingLedger(
        () => openLedger(keyspaces, prefix),
        isCluster(client) ? shardOf : undefined,
      ),
    trouble: () => parts?.trouble(),
    inspect: (options) => entries(readInspectOptions(options)),
    close() {},
  }
}
