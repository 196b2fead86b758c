import { describe, expect, it, jest } from '@jest/globals'
import { HashIndex } from './hash-index.ts'
import { KeyIndex } from './key-index.ts'

/** An index whose keys are kept as a store keeps them: slot n holds `keys[n]`. */
function filled(count: number, maxKeys = 1_000_000) {
  const keys: (string | undefined)[] = Array.from({ length: count }, (_, i) => `client-${i}`)
  const index = new KeyIndex(maxKeys, { key: (slot) => keys[slot] })
  keys.forEach((key, slot) => {
    index.add(key as string, slot)
  })
  return { index, keys }
}

describe('KeyIndex', () => {
  it.each([1, 16_383, 16_384, 16_385, 60_000])('finds each of %i keys and no other', (count) => {
    const { index, keys } = filled(count)
    expect(keys.every((key, slot) => index.find(key as string) === slot)).toBe(true)
    expect(index.find('client--1')).toBe(-1)
    expect(index.find(`client-${count}`)).toBe(-1)
    expect(index.find('')).toBe(-1)
  })

  it('keeps to what a Map says, whatever is added and taken out', () => {
    const { index, keys } = filled(20_000)
    const map = new Map(keys.map((key, slot) => [key as string, slot]))
    let random = 7
    for (let step = 0; step < 60_000; step += 1) {
      random = (random * 48_271) % 2_147_483_647
      const key = `client-${random % 25_000}`
      const slot = map.get(key)
      if (slot === undefined) {
        map.set(key, keys.push(key) - 1)
        index.add(key, keys.length - 1)
      } else {
        index.delete(key)
        map.delete(key)
        keys[slot] = undefined
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

  it('moves all keys to the second one, not all at once', () => {
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

  it('tells keys apart that have the same characters, or characters beyond ASCII', () => {
    const { index, keys } = filled(17_000)
    const like = ['ab', 'ba', 'ä', 'a\u0308', '鍵', '\u0000', 'x'.repeat(5000), 'x'.repeat(4999)]
    for (const key of like) index.add(key, keys.push(key) - 1)
    expect(like.map((key) => index.find(key))).toEqual(like.map((_, i) => 17_000 + i))
  })
})

describe('HashIndex', () => {
  it('tells keys apart that have the same hash', () => {
    const imul = jest.spyOn(Math, 'imul').mockReturnValue(0)
    const keys = Array.from({ length: 300 }, (_, i) => `client-${i}`)
    const index = new HashIndex(1000, { key: (slot) => keys[slot] })
    for (const [slot, key] of keys.entries()) index.add(key, slot)
    for (const key of keys.filter((_, slot) => slot % 3 === 0)) index.delete(key)
    const found = keys.map((key) => index.find(key))
    imul.mockRestore()
    expect(found).toEqual(keys.map((_, slot) => (slot % 3 === 0 ? -1 : slot)))
  })
})
