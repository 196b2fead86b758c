import { expect, test } from '@jest/globals'
import { hashSlotOf } from './hash-slot.ts'

test.each([
  // The check value of CRC-16/XMODEM.
  ['123456789', 0x31c3],
  ['', 0],
  ['foo', 12_182],
  ['bar', 5061],
  ['foo{bar}{zap}', 5061],
  ['{user1000}.following', 3443],
  ['{user1000}.followers', 3443],
  // Empty braces tag nothing, and a tag ends at the first brace that closes.
  ['foo{}{bar}', 8363],
  ['foo{{bar}}zap', 4015],
])('the slot of %j is %i', (key, slot) => {
  expect(hashSlotOf(key)).toBe(slot)
})

test.each(['{', '}', '}{', 'a{b', 'a}b{c', 'a{}'])('%j has no tag', (key) => {
  expect(hashSlotOf(`{${key.replaceAll(/[{}]/g, '')}}`)).not.toBe(hashSlotOf(key))
})
