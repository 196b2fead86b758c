import { expect, it } from '@jest/globals'
import { clientKey } from './client-key.ts'

it.each([
  ['203.0.113.7', '56', '203.0.113.7'],
  ['::ffff:203.0.113.7', '56', '203.0.113.7'],
  ['2001:db8:1:2ff::9', '56', '2001:db8:1:200::/56'],
  ['2001:db8:1:2ff::9', '64', '2001:db8:1:2ff::/64'],
  ['2001:db8:1:200::/56', '56', '2001:db8:1:200::/56'],
  ['user:42', '56', 'user:42'],
  ['203.0.113.7:80', '56', '203.0.113.7:80'],
])('%s with a prefix of %s is counted as %s', (text, bits, key) => {
  expect(clientKey(text, bits)).toBe(key)
})

it.each([
  ['', '56'],
  ['a', '31'],
  ['a', '129'],
  ['a', '5e1'],
])('refuses %j with a prefix of %j', (text, bits) => {
  expect(() => clientKey(text, bits)).toThrow(expect.objectContaining({ name: 'UsageError' }))
})
