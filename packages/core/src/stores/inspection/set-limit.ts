import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { conflict } from '../../errors/conflict.ts'
import { checkInteger } from '../../options/checks.ts'
import type { InspectableStore, StoreEntry } from '../store.ts'
import { inspectedKeyspace } from './inspected-keyspace.ts'

/**
 * Gives a client an own limit in a keyspace that `inspect` has shown, or ends it, as `Limiter.override` does.
 *
 * @param units units per window; undefined: the limit is the policy's again
 * @param until when it ends, ms since the epoch; `Infinity`: when it is ended
 * @throws SluiceError if the keyspace or the store takes none
 */
export async function setLimit(
  store: InspectableStore,
  { prefix, keyspace }: Pick<StoreEntry, 'prefix' | 'keyspace'>,
  key: string,
  units: number | undefined,
  until = Infinity,
): Promise<void> {
  const { name, algorithm, params } = keyspace
  const ledger = store.open({ policies: [{ name, algorithm }] }, prefix)
  const limit: CompiledLimit | undefined =
    params === undefined ? inspectedKeyspace(name)?.limit : algorithm.compile(params)
  const isKnown = params !== undefined || !algorithm.drains
  if (limit === undefined || algorithm.reserves || ledger.override === undefined || !isKnown) {
    throw conflict(
      'policy',
      "a policy without reserve, on a store that keeps clients' own limits",
      name,
      'Call limiter.override() in the application: of a bucket whose limit is a function, only that knows the burst.',
    )
  }
  if (units === undefined) return await ledger.override(0, key, limit, undefined)
  const checked = checkInteger('limit', units, 0, algorithm.maxLimit)
  const { burst, maxDelayMs } = params ?? {}
  await ledger.override(0, key, limit, { limit: checked, burst, maxDelayMs, until })
}
