import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseItem } from 'structured-headers'
import { serializeByteSequence, serializeString } from './policy-texts.ts'

describe('String', () => {
  test('any printable ASCII text is read back as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(parseItem(serializeString(text))[0]).toBe(text)
      }),
    )
  })
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
