import { expect, test } from '@jest/globals'
import { andThen, isPromise, thenNative } from './maybe-promise.ts'

const thenable = (value: number) =>
  // biome-ignore lint/suspicious/noThenProperty: a promise of another library
  ({ then: (resolve: (value: number) => void) => resolve(value) }) as unknown as Promise<number>

test('a value is used synchronously', () => {
  expect(andThen(2, (value) => value + 1)).toBe(3)
  expect(andThen(undefined, (value) => [value])).toEqual([undefined])
})

test.each([Promise.resolve(2), thenable(2)])(
  'a promise is used when it resolves',
  async (later) => {
    const used = andThen(later, (value) => value + 1)
    expect(used).toBeInstanceOf(Promise)
    expect(await used).toBe(3)
  },
)

test('an own promise is used when it resolves, an own value synchronously', async () => {
  expect(thenNative(2, (value) => value + 1)).toBe(3)
  expect(await thenNative(Promise.resolve(2), (value) => value + 1)).toBe(3)
})

test('a synchronous error is thrown, a rejection rejects', async () => {
  const fail = () => {
    throw new Error('no')
  }
  expect(() => andThen(1, fail)).toThrow('no')
  await expect(andThen(Promise.resolve(1), fail)).rejects.toThrow('no')
  await expect(andThen(Promise.reject(new Error('no')), () => 1)).rejects.toThrow('no')
})

test.each([
  [Promise.resolve(), true],
  [thenable(1), true],
  [undefined, false],
  [null, false],
  ['', false],
  [0, false],
  [() => {}, false],
])('isPromise(%p)', (value, is) => {
  expect(isPromise(value)).toBe(is)
})
