import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseItem } from 'structured-headers'
import {
  MAX_INTEGER,
  serializeByteSequence,
  serializeInteger,
  serializeString,
} from './structured-fields.ts'

describe('String', () => {
  test('any printable ASCII text is read back as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(parseItem(serializeString(text) ?? '')[0]).toBe(text)
      }),
    )
  })

  test.each(['\t', '\n', '\r', '\0', '\x1f', '\x7f', 'é', '\u{1f600}'])('refuses %j', (text) => {
    expect(serializeString(`a${text}`)).toBeUndefined()
  })
})

describe('Integer', () => {
  test.each([0, 1, -1, MAX_INTEGER, -MAX_INTEGER])('writes %d', (value) => {
    expect(serializeInteger(value)).toBe(String(value))
  })

  test('writes -0 as 0', () => {
    expect(serializeInteger(-0)).toBe('0')
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 1.5, 1e21, MAX_INTEGER + 1, -MAX_INTEGER - 1])(
    'refuses %d',
    (value) => {
      expect(serializeInteger(value)).toBeUndefined()
    },
  )
})

describe('Byte Sequence', () => {
  test('any bytes are read back, padded, with zero pad bits', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = serializeByteSequence(bytes)
        expect(text).toMatch(/^:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?:$/)
        expect(new Uint8Array(parseItem(text)[0] as ArrayBuffer)).toEqual(bytes)
      }),
    )
  })

  test('a view on a larger buffer sends its own part only', () => {
    const whole = new TextEncoder().encode('secret user:42 secret')
    expect(serializeByteSequence(whole.subarray(7, 14))).toBe(':dXNlcjo0Mg==:')
  })
})
