import { describe, expect, it } from '@jest/globals'
import { REDIS_ACTIONS } from '../stores/redis/setup-actions.ts'
import { setupError } from './setup-error.ts'
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
      received: "'5' (string)",
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
    [-0, '-0 (number)'],
    ['', "'' (string)"],
    ['1 fortnight', "'1 fortnight' (string)"],
    ['10.0.0.0/33', "'10.0.0.0/33' (string)"],
    ['4711'.repeat(6), "'471147114711471147114711' (string)"],
    ['4711'.repeat(7), 'text of 28 characters'],
    ['1correcthorsebattery', 'text of 20 characters'],
    ['x', 'text of 1 character'],
    ['hunter2', 'text of 7 characters'],
    ['9f86d081884c7d659a2feaa0c55ad015', 'text of 32 characters'],
    ['redis://:hunter2@cache:6379', 'a URL (redis:) of 27 characters'],
    [[1], 'an array of 1 entry'],
    [{ password: 'hunter2' }, 'an object'],
    [Object.create(null), 'an object'],
    [{ constructor: { name: 'hunter2' } }, 'an object'],
    [new Date(0), 'an object of class Date'],
    [Symbol('key'), 'a symbol'],
    [function named() {}, 'a function'],
  ])('says what was received: %p', (received, said) => {
    expect(mistake(received).message).toBe(
      `limit: Give limit as a number. Expected an integer, received ${said}. (SLUICE_OPTION_TYPE, https://sluicejs.github.io/sluice/errors#sluice_option_type)`,
    )
  })

  it('is said even of what cannot be read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(mistake(proxy).received).toBe('an object')
  })

  it('keeps the whole message of a server: the cause may be at its end', () => {
    const said =
      "ERR Error running script (call to f_8a2f0c3e1d9b4a6f7c5e2d1b0a9f8e7d6c5b4a39): @user_script:70: @user_script: 70: The user executing the script can't run this command or subcommand"
    const { message, received } = setupError(
      REDIS_ACTIONS,
      'SLUICE_REDIS_FORBIDDEN',
      'a user',
      said,
    )
    expect([received, message]).toEqual([said, expect.stringContaining(said)])
  })

  it.each([
    ['long text', 'x'.repeat(10_000)],
    ['text of several lines', 'one\n  two\nthree'],
  ])('cuts %s of a server short, in one line', (_, said) => {
    const { message } = setupError(REDIS_ACTIONS, 'SLUICE_REDIS_AUTH', 'credentials', said)
    expect(message.length).toBeLessThan(500)
    expect(message).not.toContain('\n')
  })
})
