import { describe, expect, it } from '@jest/globals'
import { masked, unmasked } from './mask.ts'

describe('masked', () => {
  it.each([
    ['203.0.113.7', '203.0.113.x #5'],
    ['2001:db8:1:200::/56', '2001:db8:1:x #5'],
    ['2001:db8::/56', '2001:db8::x #5'],
    ['user:annabel', 'user:an… #5'],
    ['user:7', 'user:… #5'],
    ['a@example.com', 'a@… #5'],
    ['token', 'to… #5'],
    ['ab', '… #5'],
    ['', '… #5'],
  ])('%s is %s', (key, text) => {
    expect(masked(key, 4)).toBe(text)
    expect(unmasked(key, 4)).toBe(key)
  })
})
