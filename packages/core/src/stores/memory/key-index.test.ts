import crypto from 'node:crypto'
import { describe, expect, it, jest } from '@jest/globals'
import { HashIndex, KeyIndex } from './key-index.ts'

const FNV_SEED = 20_261
/** Blocks that collide: from each state of FNV-1a with that seed, two ways to the same next one. */
const BLOCKS = [
  ['024iz', 'bwm3l'],
  ['5s2qa', 'jupa6'],
  ['f6fa1', '0wwu1'],
  ['qtv8y', '86k1h'],
  ['7fnc9', 'hb8sp'],
  ['a945p', '3qjad'],
  ['pt58l', 'mueo7'],
  ['ec08z', '828i7'],
  ['4rz2h', 'u83p0'],
  ['kbj2d', 'snfe5'],
  ['7yjrs', 'nk4l8'],
  ['dio0q', 'eem4f'],
] as const
/** All 4096 strings that have one block of each pair: their hashes are the same. */
const MEETING = BLOCKS.reduce(
  (before, pair) => before.flatMap((start) => pair.map((block) => start + block)),
  [''],
)

/** An index whose keys are kept as a store keeps them: row n holds `keys[n]`. */
function filled(count: number, maxKeys = 1_000_000) {
  const keys: (string | undefined)[] = Array.from({ length: count }, (_, i) => `client-${i}`)
  const index = new KeyIndex(maxKeys, { key: (row) => keys[row] })
  keys.forEach((key, row) => {
    index.add(key as string, row)
  })
  return { index, keys }
}

describe('KeyIndex', () => {
  it.each([1, 16_383, 16_384, 16_385, 60_000])('finds each of %i keys and no other', (count) => {
    const { index, keys } = filled(count)
    expect(keys.every((key, row) => index.find(key as string) === row)).toBe(true)
    expect(index.find('client--1')).toBe(-1)
    expect(index.find(`client-${count}`)).toBe(-1)
    expect(index.find('')).toBe(-1)
  })

  it('agrees with a Map, whatever is added and removed', () => {
    const { index, keys } = filled(20_000)
    const map = new Map(keys.map((key, row) => [key as string, row]))
    let random = 7
    for (let step = 0; step < 60_000; step += 1) {
      random = (random * 48_271) % 2_147_483_647
      const key = `client-${random % 25_000}`
      const row = map.get(key)
      if (row === undefined) {
        map.set(key, keys.push(key) - 1)
        index.add(key, keys.length - 1)
      } else {
        index.delete(key)
        map.delete(key)
        keys[row] = undefined
      }
    }
    const expected = Array.from({ length: 25_000 }, (_, i) => map.get(`client-${i}`) ?? -1)
    expect(expected.map((_, i) => index.find(`client-${i}`))).toEqual(expected)
  })

  // Beyond 16,384 keys they move from one structure to the other, some with each that is added.
  it.each([100, 16_384, 16_385, 16_500, 17_000, 20_000])('can be emptied of %i keys', (count) => {
    const { index, keys } = filled(count)
    for (const key of keys) index.delete(key as string)
    const again = Array.from({ length: count }, (_, i) => `client-${i}`)
    expect(again.some((key) => index.find(key) !== -1)).toBe(false)
    for (const key of again) index.add(key, keys.push(key) - 1)
    expect(again.every((key, i) => index.find(key) === count + i)).toBe(true)
  })

  it('moves all keys to the second one, step by step', () => {
    const add = jest.spyOn(HashIndex.prototype, 'add')
    filled(16_384)
    expect(add).not.toHaveBeenCalled()
    filled(16_385)
    expect(add).toHaveBeenCalledTimes(1 + 16)
    add.mockClear()
    filled(20_000)
    expect(add).toHaveBeenCalledTimes(20_000)
    add.mockRestore()
  })

  it('distinguishes keys that have the same characters, or characters beyond ASCII', () => {
    const { index, keys } = filled(17_000)
    const like = ['ab', 'ba', 'ä', 'a\u0308', '鍵', '\u0000', 'x'.repeat(5000), 'x'.repeat(4999)]
    for (const key of like) index.add(key, keys.push(key) - 1)
    expect(like.map((key) => index.find(key))).toEqual(like.map((_, i) => 17_000 + i))
  })
})

describe('hash flooding', () => {
  it('integers, which older versions of V8 hash without a secret, are never in the Map', () => {
    const set = jest.spyOn(Map.prototype, 'set')
    const keys = ['0', '131072', '4294967294', '9999999999', '12345678901', '1e5', '-1', '1.5']
    const index = new KeyIndex(1000, { key: (row) => keys[row] })
    for (const [row, key] of keys.entries()) index.add(key, row)
    const inMap = set.mock.calls.map(([key]) => key)
    set.mockRestore()
    expect(inMap).toEqual(['12345678901', '1e5', '-1', '1.5'])
    expect(keys.map((key) => index.find(key))).toEqual(keys.map((_, row) => row))
    for (const key of keys) index.delete(key)
    expect(keys.map((key) => index.find(key))).toEqual(keys.map(() => -1))
  })

  it('keys that all collide under FNV-1a, whose seed can be found out, are compared one by one', () => {
    const { randomInt } = crypto
    jest.spyOn(crypto, 'randomInt').mockImplementation(() => FNV_SEED)
    const { index, compared } = counting(MEETING)
    jest.spyOn(crypto, 'randomInt').mockImplementation(randomInt)
    expect(new Set(MEETING.map(fnv1a)).size).toBe(1)
    expect(MEETING.every((key, row) => index.find(key) === row)).toBe(true)
    // Once for each, and for those few that meet by chance.
    expect(compared()).toBeLessThan(MEETING.length + 10)
  })

  it('a search ends after 512 places, even where all keys have one hash', () => {
    const keys = Array.from({ length: 3000 }, (_, i) => `client-${i}`)
    const { index, compared } = counting(keys, () => 7)
    for (const [row, key] of keys.entries()) {
      const before = compared()
      expect(index.find(key)).toBe(row)
      expect(compared() - before).toBeLessThanOrEqual(512)
    }
  })
})

describe('HashIndex', () => {
  it('takes no more room, however many keys have come and gone', () => {
    const keys: string[] = []
    const index = new HashIndex(100, { key: (row) => keys[row] })
    for (let i = 0; i < 10_000; i += 1) {
      const row = i % 100
      if (i >= 100) index.delete(keys[row] as string)
      keys[row] = `client-${i}`
      index.add(keys[row], row)
    }
    expect(index.tables.map((table) => table?.length)).toEqual([512])
  })

  it.each([300, 3000])('distinguishes %i keys that have the same hash', (count) => {
    const keys = Array.from({ length: count }, (_, i) => `client-${i}`)
    const { index } = counting(keys, () => 7)
    const isGone = (row: number) => row % 3 === 0
    for (const key of keys.filter((_, row) => isGone(row))) index.delete(key)
    const found = keys.map((key) => index.find(key))
    expect(found).toEqual(keys.map((_, row) => (isGone(row) ? -1 : row)))
    keys.forEach((key, row) => {
      if (isGone(row)) index.add(key, row)
    })
    expect(keys.map((key) => index.find(key))).toEqual(keys.map((_, row) => row))
  })
})

/** An index of the keys, and how often one of them was compared with another key so far. */
function counting(keys: readonly string[], hash?: () => number) {
  let count = 0
  const key = (row: number) => {
    count += 1
    return keys[row]
  }
  const index = new HashIndex(1_000_000, { key }, hash)
  keys.forEach((key, row) => {
    index.add(key, row)
  })
  count = 0
  return { index, compared: () => count }
}

function fnv1a(key: string): number {
  let hash = FNV_SEED
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 16_777_619)
  return hash
}
