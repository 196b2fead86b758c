import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { KeyState } from '../../algorithms/algorithm.ts'
import { Log } from '../../algorithms/sliding-log/log.ts'
import { decodeState, encodeState } from './state-bytes.ts'

const anyInteger = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

describe('a state as bytes', () => {
  test('comes back as it was, whatever it counts', () => {
    const anyState = fc.record({ a: anyInteger, b: anyInteger, c: anyInteger })
    fc.assert(
      fc.property(anyState, (numbers) => {
        const state = Object.assign(new KeyState(), numbers)
        expect(decodeState(encodeState(state))).toEqual(state)
        expect(encodeState(state)).toHaveLength(24)
      }),
    )
  })

  test('keeps the entries of a log, and their sum', () => {
    const state = new KeyState()
    state.log = new Log()
    for (let i = 1; i <= 100; i += 1) state.log.add(1_800_000_000_000 + i, i)
    const log = decodeState(encodeState(state)).log as Log
    expect([log.length, log.total, log.time(99), log.cost(41)]).toEqual([
      100, 5050, 1_800_000_000_100, 42,
    ])
  })

  test('reads bytes that lie within a larger buffer', () => {
    const bytes = encodeState(Object.assign(new KeyState(), { a: 7 }))
    const larger = new Uint8Array(40)
    larger.set(bytes, 5)
    expect(decodeState(larger.subarray(5, 29)).a).toBe(7)
  })

  test.each([0, 7, 8, 16, 25, 39])('%i bytes are not a state', (length) => {
    expect(() => decodeState(new Uint8Array(length))).toThrow(RangeError)
  })

  test('entries that nobody has written are not those of a state, however many they claim to be', () => {
    const anyBytes = fc.uint8Array({ minLength: 16, maxLength: 16 })
    const anyKind = fc.oneof(fc.constantFrom(0, 1, 4, -64), fc.double())
    const property = fc.property(anyKind, anyBytes, (kind, numbers) => {
      const bytes = new Uint8Array(24 + 32)
      new DataView(bytes.buffer).setFloat64(24, kind, true)
      bytes.set(numbers, 32)
      try {
        const { log, held } = decodeState(bytes)
        expect(((log as Log)?.length ?? 0) + (held?.length ?? 0)).toBeLessThan(32)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    })
    fc.assert(property)
    for (const kind of [-1, -65, 1_800_000_000_000, 0.5, Number.NaN]) {
      const bytes = new Uint8Array(40)
      new DataView(bytes.buffer).setFloat64(24, kind, true)
      expect(() => decodeState(bytes)).toThrow(RangeError)
    }
  })
})
