import type { Store } from '@sluice/core'
import type { Runner } from '../runner.ts'
import { bans } from './ban.ts'
import { blocks } from './block.ts'
import { keepsCountsOfChangedLimits } from './changed-limits.ts'
import { consumes } from './consume.ts'
import { contracts } from './contract.ts'
import { documents } from './documents.ts'
import { dryRuns } from './dry-runs.ts'
import { expires, fails } from './faults.ts'
import { inspects } from './inspect.ts'
import { ownLimits } from './own-limits.ts'
import { reservations } from './reservations.ts'
import { settles } from './settle.ts'
import { shares } from './sharing.ts'
import { slots } from './slots.ts'
import { type StoreKit, storeTests } from './store-kit.ts'

/**
 * Registers the tests that every store passes, whatever holds its states.
 *
 *     storeSuite(runner, 'my store', { mode: 'async', create: (clock) => myStore({ clock }) })
 */
export function storeSuite<S extends Store>(runner: Runner, name: string, kit: StoreKit<S>): void {
  const tests = storeTests(runner, kit)
  runner.describe(`${name} keeps the contract of stores`, () => {
    runner.describe('consume and peek', () => consumes(tests))
    runner.describe('settle', () => settles(tests))
    runner.describe('block and reset', () => blocks(tests))
    runner.describe('spaces and keys', () => shares(tests))
    runner.describe('a changed limit', () => keepsCountsOfChangedLimits(tests))
    runner.describe('limits of a client', () => ownLimits(tests))
    runner.describe('slots of what is in progress', () => slots(tests))
    runner.describe('reservations', () => reservations(tests))
    runner.describe('bans', () => bans(tests))
    runner.describe('dry runs', () => dryRuns(tests))
    if (kit.documents !== false) runner.describe('documents', () => documents(tests))
    if (kit.inspects) runner.describe('inspect', () => inspects(tests))
    runner.describe('calls', () => contracts(tests, kit.mode))
    const { failWrites, countLeft } = kit
    if (failWrites) runner.describe('faults', () => fails(tests, failWrites.bind(kit)))
    if (countLeft) runner.describe('expiry', () => expires(tests, countLeft.bind(kit)))
  })
}
