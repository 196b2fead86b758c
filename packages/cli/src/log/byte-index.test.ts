import { expect, test } from '@jest/globals'
import { ByteIndex } from './byte-index.ts'

const SEED = 7

/** The hash of the index with that seed, to find keys that collide. */
function hash(key: Buffer): number {
  let hash = SEED
  for (const byte of key) hash = Math.imul(hash ^ byte, 16_777_619)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}

/** Keys that all begin their search at the first of 1024 places. */
function meeting(count: number): Buffer[] {
  const keys: Buffer[] = []
  for (let i = 0; keys.length < count; i += 1) {
    const key = Buffer.from(`client-${i}`)
    if ((hash(key) & 0x3ff) === 0) keys.push(key)
  }
  return keys
}

test('colliding keys make no search long: beyond a bound they are not kept', () => {
  const index = new ByteIndex(SEED)
  const keys = meeting(100)
  for (const [number, key] of keys.entries()) {
    if (index.find(key, 0, key.length) < 0) index.add(key, 0, key.length, number)
  }
  const found = keys.map((key) => index.find(key, 0, key.length))
  const kept = found.filter((number) => number >= 0)
  expect(kept.length).toBeGreaterThan(0)
  expect(kept.length).toBeLessThanOrEqual(64)
  expect(found.every((number, i) => number === i || number === -1)).toBe(true)
})
