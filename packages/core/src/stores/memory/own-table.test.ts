import { beforeEach, expect, test } from '@jest/globals'
import type { OwnTerms } from '../../algorithms/algorithm.ts'
import { type OwnCount, OwnTable } from './own-table.ts'

const limit = (until: number): OwnTerms => {
  return { override: { limit: 5, until }, grants: [], blockedUntil: 0 } as OwnTerms
}
const block = (blockedUntil: number): OwnTerms => {
  return { override: undefined, grants: [], blockedUntil }
}

let count: OwnCount
let table: OwnTable
beforeEach(() => {
  count = { value: 0, most: 3 }
  table = new OwnTable('sluice', 'own:default', count)
})

test('a further client takes the room of the block that ends first, of no limit or top-up', () => {
  const topUp = { ...limit(0), override: undefined, grants: [{ id: '', units: 1, until: 10 }] }
  table.set('limited', limit(20), 0)
  table.set('late', block(40), 0)
  table.set('early', block(30), 0)
  expect(table.set('topped up', topUp, 0)).toBe(true)
  expect([...table.terms.keys()]).toEqual(['limited', 'late', 'topped up'])
  table.set('last', limit(50), 0)
  expect([...table.terms.keys()]).toEqual(['limited', 'topped up', 'last'])
  expect(table.set('none', block(60), 9)).toBe(false)
  // What has ended makes room.
  expect(table.set('some', block(60), 10)).toBe(true)
  expect(count.value).toBe(3)
})

test('a table that is cleared gives back the room of its own records', () => {
  count.value = 1
  table.set('client', limit(20), 0)
  table.clear()
  expect([count.value, table.terms.size, table.dueAt]).toEqual([1, 0, Infinity])
})

test('a table that is cleared in the middle of a sweep forgets no record of after that', () => {
  count = { value: 0, most: 5000 }
  table = new OwnTable('sluice', 'own:default', count)
  for (let i = 0; i < 1500; i += 1) table.set(`client ${i}`, block(10), 0)
  table.sweep(10)
  table.clear()
  table.set('client 1400', limit(20), 10)
  table.sweep(10)
  expect([table.terms.size, table.dueAt, count.value]).toEqual([1, 20, 1])
})

test('a sweep drops what has ended, and knows when the next one ends', () => {
  count = { value: 0, most: 5000 }
  table = new OwnTable('sluice', 'own:default', count)
  for (let i = 0; i < 1500; i += 1) table.set(`client ${i}`, block(i < 500 ? 20 : 10), 0)
  expect(table.dueAt).toBe(10)
  table.sweep(10)
  // The sweep, which goes on, has passed this one.
  table.set('client 0', block(15), 10)
  table.sweep(10)
  expect([table.terms.size, table.dueAt, count.value]).toEqual([500, 15, 500])
})
