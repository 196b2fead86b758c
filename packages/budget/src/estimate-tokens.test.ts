import { describe, expect, test } from '@jest/globals'
import { SluiceError } from '@sluice/core'
import { estimateTokens } from './estimate-tokens.ts'

describe('estimateTokens()', () => {
  test.each<[unknown, number]>([
    ['', 0],
    ['a', 1],
    ['four', 1],
    ['fives', 2],
    ['限流器', 3],
    ['😀', 1],
    [Buffer.alloc(4001), 1001],
    [new Uint16Array(8), 4],
    [['four', 'four'], 2],
    [[], 0],
    [[1, 2, null, true, 0.5], 5],
    [{ role: 'user', content: 'x'.repeat(85) }, 25],
    [{ a: [{ b: ['12', '34'] }], data: Buffer.alloc(10) }, 5],
    [Object.assign(Object.create(null), { four: 'four' }), 2],
  ])('%j: %d', (given, tokens) => {
    expect(estimateTokens(given)).toBe(tokens)
  })

  test.each([undefined, null])('%p costs nothing, with a warning', (given) => {
    expect(estimateTokens(given)).toBe(0)
  })

  test.each([5, true, () => 'text', new Date(0), Symbol('text'), 5n])('%p is no body', (given) => {
    expect(() => estimateTokens(given)).toThrow(SluiceError)
  })

  test('a text as long as the largest body is not counted to its end, and not underestimated', () => {
    const ascii = 'x'.repeat(100_000_000)
    const wide = '限'.repeat(10_000_000)
    expect(estimateTokens(ascii)).toBe((8_000_000 + 92_000_000 * 3) / 4)
    expect(estimateTokens(wide)).toBe(30_000_000 / 4)
    expect(estimateTokens({ a: ascii, b: wide })).toBeGreaterThan(75_000_000)
    const parts = Array.from({ length: 100 }, () => ascii.slice(0, 1_000_000))
    expect(estimateTokens(parts)).toBe((8_000_000 + 92_000_000 * 3) / 4)
  })

  test('a body of more values than any prompt costs more than any limit', () => {
    const many: object[] = Array.from({ length: 100_001 }, () => [])
    expect(estimateTokens(many)).toBe(Number.MAX_SAFE_INTEGER)
    const circle: Record<string, unknown> = {}
    circle.circle = circle
    expect(estimateTokens(circle)).toBe(Number.MAX_SAFE_INTEGER)
    expect(estimateTokens(many.slice(0, 1000))).toBe(0)
  })

  test('a body nested as deep as it is long', () => {
    let nested: unknown[] = ['four']
    for (let i = 0; i < 90_000; i += 1) nested = [nested]
    expect(estimateTokens(nested)).toBe(1)
  })
})
