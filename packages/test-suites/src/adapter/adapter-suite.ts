import { memoryStore } from '@sluice/core'
import type { Runner } from '../runner.ts'
import type { AdapterKit } from './adapter-kit.ts'
import { accessTests } from './tables/access.ts'
import { addressTests } from './tables/addresses.ts'
import { amountTests } from './tables/amounts.ts'
import { calendarTests } from './tables/calendar.ts'
import { corsTests } from './tables/cors.ts'
import { decisionTests } from './tables/decisions.ts'
import { dryRunTests } from './tables/dry-runs.ts'
import { errorTests } from './tables/errors.ts'
import { failureTests } from './tables/failures.ts'
import { fieldTests } from './tables/fields.ts'
import { inProgressTests } from './tables/in-progress.ts'
import { keyReaderTests } from './tables/key-readers.ts'
import { keyTests } from './tables/keys.ts'
import { leavingTests } from './tables/leaving.ts'
import { policyTests } from './tables/policies.ts'
import { proxyTests } from './tables/proxies.ts'
import { refusalTests } from './tables/refusals.ts'
import { reservedTests } from './tables/reserved.ts'
import { settleTests } from './tables/settle.ts'
import { stackTests } from './tables/stacks.ts'
import { unitTests } from './tables/units.ts'
import { unreadTests } from './tables/unread.ts'
import { waitingTests } from './tables/waiting.ts'
import { type MakeStore, World } from './world.ts'

/** The stores to run on, by name. Each is made for one test, on a clock, or on its own without one. */
export type AdapterStores = Readonly<Record<string, MakeStore>>

const MEMORY: AdapterStores = {
  memory: (clock) => memoryStore(clock === undefined ? {} : { clock }),
}

const TABLES: Record<string, (world: World) => void> = {
  'header fields': fieldTests,
  refusals: refusalTests,
  'client addresses': addressTests,
  'trusted proxies': proxyTests,
  'allow and deny': accessTests,
  'keys and users': keyTests,
  'limits, windows and costs by request': amountTests,
  'functions that get the key': keyReaderTests,
  'functions that fail': errorTests,
  policies: policyTests,
  'dry runs': dryRunTests,
  'windows of the calendar': calendarTests,
  'budgets in tokens': unitTests,
  decisions: decisionTests,
  'charges settled after the response': settleTests,
  'estimates that end with their process': reservedTests,
  'requests that wait their turn': waitingTests,
  'requests in progress': inProgressTests,
  'clients that leave': leavingTests,
  'responses that nobody reads': unreadTests,
  'stacked limiters': stackTests,
  CORS: corsTests,
}

/**
 * Registers the tests that every adapter passes, over real sockets, on each of the stores. The tests
 * must run one after the other, and before others in the process that emit Sluice's warnings.
 *
 * @param stores default: the memory store
 */
export function adapterSuite<Request, Response>(
  runner: Runner,
  name: string,
  kit: AdapterKit<Request, Response>,
  stores: AdapterStores = MEMORY,
): void {
  const world = (makeStore: MakeStore) => new World(runner, kit as never, makeStore)
  runner.describe(name, () => {
    for (const [store, makeStore] of Object.entries(stores))
      runner.describe(`with the store ${store}`, () => {
        for (const [title, table] of Object.entries(TABLES))
          runner.describe(title, () => table(world(makeStore)))
      })
    runner.describe('a store that fails', () => failureTests(world(MEMORY.memory as MakeStore)))
  })
}
