import { expect, it } from '@jest/globals'
import { keyedHash } from './keyed-hash.ts'

const keys = Array.from({ length: 1000 }, (_, i) => `client-${i}`)

it('gives the published results of HalfSipHash-1-3', () => {
  const hash = keyedHash(0x03020100, 0x07060504)
  // The bytes 0, 1, 2 … as the little-endian units of a string.
  const bytes = ['', '\u0100', '\u0100\u0302', '\u0100\u0302\u0504']
  const published = [0x5814c896, 0xbc4b0e30, 0x7e059ea6, 0xa0080b65]
  expect(bytes.map((key) => hash(key) >>> 0)).toEqual(published)
})

it('has a separate key in each table, so that collisions differ', () => {
  const hashes = Array.from({ length: 3 }, () => new Set(keys.map(keyedHash())))
  expect(new Set(hashes.flatMap((each) => [...each])).size).toBeGreaterThan(2990)
})

it('depends on both halves of its key', () => {
  const [one, other, third] = [keyedHash(1, 1), keyedHash(2, 1), keyedHash(1, 2)]
  const same = keys.filter((key) => one(key) === other(key) || one(key) === third(key))
  expect(same).toEqual([])
})

it('distinguishes keys by each unit, their order and their length', () => {
  const hash = keyedHash()
  const like = [
    '',
    '\0',
    '\0\0',
    '\0\0\0',
    'ab',
    'ba',
    'aab',
    'aba',
    'é',
    'e\u0301',
    '\ud83d\ude00',
  ]
  expect(new Set(like.map(hash)).size).toBe(like.length)
})
