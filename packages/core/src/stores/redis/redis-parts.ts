import type { Wanted } from '../inspection/inspect-options.ts'
import { KeptKeyspaces } from '../inspection/kept-keyspaces.ts'
import type { Documents, Keyspace, Ledger, StoreEntry } from '../store.ts'
import type { RedisClient } from './client.ts'
import { RedisConnection } from './connection.ts'
import { connectionTrouble } from './connection-trouble.ts'
import { LedgerScripts } from './ledger-scripts.ts'
import { scansOf } from './masters.ts'
import { redisDocuments } from './redis-documents.ts'
import { RedisLedger } from './redis-ledger.ts'

/** The parts of a store in Redis. Loaded when a limiter is made on it, since other stores need none of them. */
export class RedisParts {
  readonly documents: Documents<'async'>
  readonly #client: RedisClient
  readonly #connection: RedisConnection
  readonly #kept: KeptKeyspaces

  /** See `RedisConnection`. */
  constructor(client: RedisClient, clock?: () => number, onReadOnly?: () => unknown) {
    this.#client = client
    this.#connection = new RedisConnection(client, clock, onReadOnly)
    this.documents = redisDocuments(this.#connection)
    this.#kept = new KeptKeyspaces(this.documents)
  }

  trouble(): string | undefined {
    return connectionTrouble(this.#client)
  }

  async open(keyspaces: readonly Keyspace[], prefix: string): Promise<Ledger<'async'>> {
    const scripts = await LedgerScripts.load(keyspaces)
    return new RedisLedger(this.#connection, keyspaces, prefix, this.#kept, scripts)
  }

  async *entries(wanted: Wanted): AsyncGenerator<StoreEntry, void, undefined> {
    const { RedisInspection } = await import('./redis-inspection.ts')
    yield* new RedisInspection(
      this.#connection,
      () => scansOf(this.#client),
      wanted,
      this.#kept,
    ).entries()
  }
}
