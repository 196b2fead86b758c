import { copyOf } from '../stores/memory/memory-ledger.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { MemoryStoreOptions } from '../stores/options.generated.ts'
import type { Ledger, Store, StoreResult } from '../stores/store.ts'

/** A remote store that fails on demand, to test how an application reacts. */
export interface FailingStore extends Store<'async'> {
  /** Calls since it was created. */
  readonly calls: number
  /** Rejects every call from now on. */
  fail(error?: Error): void
  /** Runs calls from now on, but holds back the answers. */
  hang(): void
  /** Releases the answers held back, and works again. */
  recover(): void
}

/** Works at first, in memory, and answers with promises. */
export function failingStore(options: MemoryStoreOptions = {}): FailingStore {
  const memory = memoryStore(options)
  let error: Error | undefined
  let held: (() => void)[] | undefined
  let calls = 0

  function answer<T>(act: () => T): Promise<T> {
    calls += 1
    if (error !== undefined) return Promise.reject(error)
    const value = act()
    const keep = held
    return keep === undefined
      ? Promise.resolve(value)
      : new Promise((resolve) => keep.push(() => resolve(value)))
  }

  return {
    mode: 'async',
    clock: options.clock,
    get calls() {
      return calls
    },
    fail(given = new Error('the store fails')) {
      error = given
    },
    hang() {
      held ??= []
    },
    recover() {
      error = undefined
      for (const give of held ?? []) give()
      held = undefined
    },
    open(keyspaces, prefix): Ledger<'async'> {
      const ledger = memory.open(keyspaces, prefix)
      return {
        decide: (...asked) =>
          answer(() => ledger.decide(...asked).map((each) => copyOf(each as StoreResult))),
        change: (...change) => answer(() => ledger.change(...change)),
      }
    },
    close: () => memory.close(),
  }
}
