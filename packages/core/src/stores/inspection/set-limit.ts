import type { CompiledLimit, Override } from '../../algorithms/algorithm.ts'
import { conflict } from '../../errors/conflict.ts'
import { checkInteger } from '../../options/checks.ts'
import type { InspectableStore, StoreEntry } from '../store.ts'
import { inspectedKeyspace } from './inspected-keyspace.ts'
import { KEYSPACES } from './kept-keyspaces.ts'
import { basePrefix } from './scope.ts'

/**
 * Gives a client an own limit in a keyspace that `inspect` has shown, or ends it, as `Limiter.override` does.
 *
 * @param units units per window; undefined: the limit is the policy's again
 * @param forMs how long it holds by the store's clock, ms; `Infinity`: until it is ended
 * @throws SluiceError if the keyspace takes none
 */
export async function setLimit(
  store: InspectableStore,
  { prefix, keyspace }: Pick<StoreEntry, 'prefix' | 'keyspace'>,
  key: string,
  units: number | undefined,
  forMs = Infinity,
): Promise<void> {
  const { name, algorithm, params } = keyspace
  const ledger = store.open([keyspace], prefix)
  const limit: CompiledLimit | undefined =
    params === undefined ? inspectedKeyspace(name)?.limit : algorithm.compile(params)
  if (limit === undefined) {
    throw conflict(
      'policy',
      'a policy of this version of Sluice',
      name,
      'Call override() in the application that has it.',
    )
  }
  const set = (override: Override | undefined) =>
    ledger.change({ kind: 'override', policy: 0, key, limit, override })
  if (units === undefined) {
    await set(undefined)
    return
  }
  const checked = checkInteger('limit', units, 0, algorithm.maxLimit)
  const { burst, maxDelayMs } = params ?? {}
  const now = forMs === Infinity ? 0 : await timeOf(store, prefix)
  await set({ limit: checked, burst, maxDelayMs, until: now + forMs })
}

/** Now, ms on the store's clock. */
async function timeOf({ clock, documents }: InspectableStore, prefix: string): Promise<number> {
  if (clock !== undefined) return clock()
  const read = await documents?.read(basePrefix(prefix), KEYSPACES, '')
  return read?.at ?? Date.now()
}
