import {
  type DynamodbStoreOptions,
  joinTransactions,
  readStoreOptions,
  type Store,
  transactionalStore,
} from '@sluice/transactional'
import { checkClient, type DynamodbClient } from './client.ts'
import { migrate } from './migrate.ts'
import { throwSetupError } from './setup-error.ts'
import { Transactions } from './transactions.ts'

/** The longest that anything may take if no limiter says how long it waits, ms. */
const LONGEST_MS = 60_000
/** Half of the connections that the SDK opens. */
const MAX_UNDER_WAY = 25

/** A store in DynamoDB. */
export interface DynamodbStore extends Store<'async'> {
  /**
   * Creates the table, if it does not exist, and switches on the deletion of expired items. For a deployment: a store
   * never does it by itself. If the table exists, the role need not be permitted to create it.
   *
   * @throws SluiceError if the role is not permitted to, or the table has another key
   */
  migrate(): Promise<void>
}

/**
 * Keeps states in a table of DynamoDB, shared by every process. A request is one conditional write: of the item of its
 * client or, if its policies have several clients, of several items. The client of the SDK stays the caller's.
 *
 * @throws SluiceError if it is no client of DynamoDB, or an option is wrong
 */
export function dynamodbStore(
  client: DynamodbClient,
  options: DynamodbStoreOptions = {},
): DynamodbStore {
  const { table, clock } = readStoreOptions('dynamodbStore', options)
  const sdk = checkClient(client)
  const transactions = new Transactions(sdk, table, clock)
  const fail = (error: unknown) => throwSetupError(error, table)
  // Not of several items, which costs twice as much, and has more conflicts.
  const transact = joinTransactions(
    (keys, decide, ms = LONGEST_MS) => transactions.transact(keys, decide, ms).catch(fail),
    { underWay: MAX_UNDER_WAY, keys: 0 },
  )
  const store = transactionalStore({ transact, clock })
  return {
    ...store,
    open: (...opened) => {
      const ledger = store.open(...opened)
      return {
        decide: (requests, isPeek) => apart(requests, (each) => ledger.decide([each], isPeek)),
        change: (change, onIncrease) => ledger.change(change, onIncrease),
      }
    },
    migrate: () => migrate(sdk, table).catch(fail),
  }
}

/** Decides each request by itself. @throws what fails, if all of them do */
async function apart<R, T>(
  requests: readonly R[],
  decide: (request: R) => Promise<readonly T[]>,
): Promise<(T | Error)[]> {
  const settled = await Promise.allSettled(requests.map(decide))
  return settled.flatMap<T | Error>((each) => {
    if (each.status === 'fulfilled') return each.value
    if (settled.every(({ status }) => status === 'rejected')) throw each.reason
    return each.reason as Error
  })
}
