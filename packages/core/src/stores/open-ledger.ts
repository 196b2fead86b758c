import { describe } from '../errors/describe.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import type { Keyspace, Ledger, Store, StoreMode } from './store.ts'

/**
 * Opens a ledger of a store that others may have written. What lacks a function would look like an outage later.
 * @throws SluiceError, and the errors of the store
 */
export function openLedger<M extends StoreMode>(
  store: Store<M>,
  keyspaces: readonly Keyspace[],
  prefix: string,
  deadlineMs?: number,
): Ledger<M> {
  const ledger: Partial<Ledger<M>> | undefined = store.open(keyspaces, prefix, deadlineMs)
  const lacking = (['decide', 'change'] as const).filter(
    (name) => typeof ledger?.[name] !== 'function',
  )
  if (lacking.length === 0) return ledger as Ledger<M>
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option: 'store',
    expected: 'a ledger with the functions decide and change',
    said: `${describe(ledger)} without ${lacking.join(' and ')}`,
    fix: 'Let open() of the store return a ledger with the functions decide and change at once: it can await nothing.',
  })
}
