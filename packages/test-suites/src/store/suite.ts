import { describe } from '@jest/globals'
import type { Store } from '@sluice/core'
import type { StoreKit } from './bench.ts'
import { blocks } from './block.ts'
import { consumes } from './consume.ts'
import { contracts } from './contract.ts'
import { settles } from './settle.ts'
import { shares } from './sharing.ts'

/**
 * What every store must keep, whatever holds its states. A new store proves itself with one call:
 *
 *     storeSuite('my store', { mode: 'async', create: (clock) => myStore({ clock }) })
 */
export function storeSuite(name: string, kit: StoreKit<Store>): void {
  describe(`${name} keeps the contract of stores`, () => {
    describe('consume and peek', () => consumes(kit))
    describe('settle', () => settles(kit))
    describe('block and reset', () => blocks(kit))
    describe('spaces and keys', () => shares(kit))
    describe('calls', () => contracts(kit))
  })
}
