import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { StoreError } from '../../errors/store-error.ts'
import { createLimiter } from '../../limiter/create-limiter.ts'
import { compareAndSwapStore } from './compare-and-swap-store.ts'

const warned: unknown[] = []

beforeEach(() => {
  warned.length = 0
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((_: string, { code }: { code: string }) => warned.push(code)) as never)
})
afterEach(() => {
  jest.restoreAllMocks()
})

/** Each swap finds that another process was faster. */
function contended() {
  return compareAndSwapStore({
    now: () => 1_800_000_000_000,
    read: async (keys) => keys.map(() => undefined),
    swap: async () => false,
  })
}

it('contention ends in a StoreError with its own code, which the limiter wraps', async () => {
  const limiter = createLimiter({ store: contended(), limit: 5, window: '1m' })
  const error = await Promise.resolve(limiter.block('client', '1m')).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', operation: 'block' })
  expect(error.cause).toBeInstanceOf(StoreError)
  expect(error.cause).toMatchObject({ code: 'SLUICE_STORE_CONTENTION', operation: 'transact' })
  limiter.close()
})

it('contention is not a set-up error: one failure does not open the breaker', async () => {
  const limiter = createLimiter({ store: contended(), limit: 5, window: '1m' })
  expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
  expect(warned).toEqual([])
  limiter.close()
})
