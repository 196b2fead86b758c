import { expect, jest, test } from '@jest/globals'
import type { Decision } from '../limiter/decision.ts'

/** Loads the classes anew, as another module format or version has them. */
async function load() {
  jest.resetModules()
  const { SluiceError } = await import('./sluice-error.ts')
  const { WaitError } = await import('./wait-error.ts')
  const { StoreError } = await import('./store-error.ts')
  const { RateLimitError } = await import('@sluice/http')
  const mistake = { option: 'limit', expected: 'a', received: 'b', fix: 'c' }
  const failure = { operation: 'a', problem: 'b', advice: 'c' }
  const refusal = { status: 429, banned: false } as never
  const made: Record<string, Error> = {
    SluiceError: new SluiceError({ code: 'SLUICE_OPTION_TYPE', ...mistake }),
    WaitError: new WaitError('SLUICE_WAIT_FULL', 0),
    StoreError: new StoreError({ code: 'SLUICE_STORE_UNAVAILABLE', ...failure }),
    RateLimitError: new RateLimitError(refusal, {} as Decision, {}),
  }
  const classes: Record<string, new (...given: never[]) => Error> = {
    SluiceError,
    WaitError,
    StoreError,
    RateLimitError,
  }
  return { made, classes }
}

test.each(['SluiceError', 'WaitError', 'StoreError', 'RateLimitError'])(
  '%s is one of the class of another module format, and of no other class',
  async (name) => {
    const [one, other] = [await load(), await load()]
    expect(one.classes[name]).not.toBe(other.classes[name])
    for (const [each, error] of Object.entries(one.made))
      expect(error instanceof (other.classes[name] as typeof Error)).toBe(each === name)
    const Own = class extends (other.classes[name] as typeof Error) {}
    const [known] = [one.made[name] as Error]
    expect([known instanceof Own, known instanceof Error]).toEqual([false, true])
    for (const value of [
      undefined,
      null,
      'text',
      {},
      { name, code: 'SLUICE_REFUSED' },
      new Error(name),
    ])
      expect((value as unknown) instanceof (other.classes[name] as typeof Error)).toBe(false)
  },
)
