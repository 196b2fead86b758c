import { type Store, StoreError } from '@sluice/core'
import { checkFunction } from '@sluice/core/internal-stores'
import { inOrder } from './in-order.ts'
import type { StateChange, TransactionalBackend } from './transactional-backend.ts'
import { transactionalStore } from './transactional-store.ts'

/** How often a transaction is tried before it fails. */
const MAX_ATTEMPTS = 100

/** Bytes, and a version that shows whether they have changed since. */
export interface Versioned {
  readonly state: Uint8Array
  readonly version: unknown
}

/** A place that keeps bytes under keys, and changes them only if they have not changed meanwhile. */
export interface CompareAndSwapBackend {
  /** The backend's clock: ms since the epoch, an integer, the same for all processes. */
  now(): number | Promise<number>
  /** Reads the states in the order of the keys, undefined where there is nothing. */
  read(keys: readonly string[]): Promise<readonly (Versioned | undefined)[]>
  /**
   * Writes all changes, if each key still has the version that was read (undefined: still
   * absent); otherwise none.
   *
   * @returns whether they were written
   */
  swap(changes: readonly (StateChange & { readonly version: unknown })[]): Promise<boolean>
  /** The backend's clock if one was injected, for tests. */
  readonly clock?: (() => number) | undefined
  /** Releases the connections and timers that the backend itself has opened. */
  close?(): void
}

/**
 * A complete store on a backend that can compare and swap. If many processes decide about the
 * same keys at the same time, one of them succeeds in each round: choose {@link transactionalStore} if the
 * backend can lock.
 */
export function compareAndSwapStore(backend: CompareAndSwapBackend): Store<'async'> {
  checkFunction('now', backend.now, 'of the backend')
  checkFunction('read', backend.read, 'of the backend')
  checkFunction('swap', backend.swap, 'of the backend')
  const transact: TransactionalBackend['transact'] = async (keys, decide) => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const read = await backend.read(keys)
      const states = read.map((each) => each?.state)
      const { changes, value } = decide(states, await backend.now())
      if (changes.length === 0) return value
      const versions = new Map(keys.map((key, i) => [key, read[i]?.version]))
      const versioned = changes.map((each) => ({ ...each, version: versions.get(each.key) }))
      if (await backend.swap(versioned)) return value
    }
    throw new StoreError({
      code: 'SLUICE_STORE_CONTENTION',
      operation: 'transact',
      problem: `others changed the keys during each of ${MAX_ATTEMPTS} attempts`,
      advice: 'Nothing was written. Choose transactionalStore if the backend can lock.',
    })
  }
  return transactionalStore({
    transact: inOrder(transact),
    clock: backend.clock,
    close: () => backend.close?.(),
  })
}
