import { describe, expect, it } from '@jest/globals'
import { SluiceError } from './sluice-error.ts'
import { StoreError } from './store-error.ts'

const failure = (cause?: unknown) =>
  new StoreError({
    code: 'SLUICE_STORE_UNAVAILABLE',
    operation: 'settle',
    problem: 'the store did not confirm it',
    advice: 'Try again later.',
    cause,
  })

describe('StoreError', () => {
  it('is an Error whose parts can be read, and no mistake in how Sluice is used', () => {
    const error = failure()
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(SluiceError)
    expect(error).toMatchObject({
      name: 'StoreError',
      code: 'SLUICE_STORE_UNAVAILABLE',
      operation: 'settle',
    })
    expect(error.stack).toContain('store-error.test')
  })

  it.each([
    ['an error', new Error('ECONNREFUSED'), 'ECONNREFUSED'],
    [
      'an error that ends with a full stop',
      new Error('Connection is closed.'),
      'Connection is closed',
    ],
    ['text', 'gone', 'gone'],
    ['null', null, 'null'],
    ['what has no text', Object.create(null), '[Object: null prototype] {}'],
  ])('keeps %s as its cause, and quotes it', (_, cause, said) => {
    const error = failure(cause)
    expect(error.cause).toBe(cause)
    expect(error.message).toMatch(`settle: the store did not confirm it: ${said}. Try again later.`)
  })

  it('has no cause if nothing was thrown', () => {
    const error = failure()
    expect('cause' in error).toBe(false)
    expect(error.message).toMatch('settle: the store did not confirm it. Try again later. (')
  })
})
