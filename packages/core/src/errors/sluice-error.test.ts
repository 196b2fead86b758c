import { describe, expect, it } from '@jest/globals'
import { SluiceError } from './sluice-error.ts'

const mistake = (received: unknown) =>
  new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'limit',
    expected: 'an integer',
    received,
    fix: 'Give limit as a number.',
  })

describe('SluiceError', () => {
  it('is an Error whose parts can be read', () => {
    const error = mistake('5')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'SluiceError',
      code: 'SLUICE_OPTION_TYPE',
      option: 'limit',
      expected: 'an integer',
      received: '5',
      fix: 'Give limit as a number.',
    })
    expect(error.stack).toContain('sluice-error.test')
  })

  it.each([
    ['5', "'5' (string)"],
    [Number.NaN, 'NaN (number)'],
    [5n, '5n (bigint)'],
    [true, 'true (boolean)'],
    [undefined, 'undefined'],
    [null, 'null'],
    [[1], '[ 1 ] (Array)'],
    [{ a: 1 }, '{ a: 1 } (Object)'],
    [Object.create(null), '[Object: null prototype] {}'],
    [new Date(0), '1970-01-01T00:00:00.000Z (Date)'],
    [Symbol('key'), 'Symbol(key) (symbol)'],
    [function named() {}, '[Function: named]'],
  ])('says what was received: %p', (received, said) => {
    expect(mistake(received).message).toBe(
      `limit: expected an integer, received ${said}. Give limit as a number. (SLUICE_OPTION_TYPE, docs/errors.md#sluice_option_type)`,
    )
  })

  it('keeps the whole message of a server: the cause may be at its end', () => {
    const said =
      "ERR Error running script (call to f_8a2f0c3e1d9b4a6f7c5e2d1b0a9f8e7d6c5b4a39): @user_script:70: @user_script: 70: The user executing the script can't run this command or subcommand"
    expect(mistake(said).message).toContain(said)
  })

  it.each([
    ['text', 'x'.repeat(10_000)],
    ['a list', Array.from({ length: 10_000 }, (_, i) => i)],
    ['an error', new Error('of another kind')],
    ['something deep', { a: { b: { c: 'x'.repeat(10_000) } } }],
  ])('cuts %s short, in one line', (_, received) => {
    const { message } = mistake(received)
    expect(message.length).toBeLessThan(400)
    expect(message).not.toContain('\n')
  })
})
