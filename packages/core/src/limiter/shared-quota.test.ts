import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'

const warnings: { code: string; text: string }[] = []
beforeEach(() => {
  warnings.length = 0
  jest.resetModules()
  jest.spyOn(process, 'emitWarning').mockImplementation(((text: string, { code }: never) => {
    warnings.push({ code, text })
  }) as typeof process.emitWarning)
})
afterEach(() => {
  jest.restoreAllMocks()
})

const terms = { limit: 3, window: '1h' } as const

/** New modules, as in a new process: the warning comes once in each. */
async function fresh() {
  const core = await import('../index.ts')
  const { RoutedLimiter } = await import('@sluice/http/adapter')
  const { plain } = await import('../../../http/src/testing/plain-server.ts')
  const { failingStore } = await import('../testing/index.ts')
  return { ...core, RoutedLimiter, plain, failingStore }
}

const codes = () => warnings.map(({ code }) => code)

test('the second limiter with the same options on a store: one warning says that they share', async () => {
  const { createLimiter, memoryStore } = await fresh()
  const store = memoryStore()
  const [contact, reset] = [1, 2].map(() => createLimiter({ ...terms, store }))
  expect(codes()).toEqual(['SLUICE_SHARED_QUOTA'])
  expect(warnings[0]?.text).toMatch(/prefix: 'contact'/)
  // What it says is so.
  contact!.consume('a', { cost: 3 })
  expect(reset!.consume('a').allowed).toBe(false)
  createLimiter({ ...terms, store })
  expect(codes()).toHaveLength(1)
})

test('on a remote store, and where one of several policies is the same', async () => {
  const { createLimiter, failingStore } = await fresh()
  const store = failingStore()
  const day = { name: 'day', limit: 1000, window: '1d' } as const
  createLimiter({ store, policies: [{ ...terms, name: 'hour' }, day] })
  createLimiter({ store, policies: [{ ...terms, window: '2h', name: 'hour' }, day] })
  expect(codes()).toEqual(['SLUICE_SHARED_QUOTA'])
  expect(warnings[0]?.text).toMatch(/'day'/)
})

test('also once one that may share it is closed', async () => {
  const { createLimiter, memoryStore } = await fresh()
  const store = memoryStore()
  createLimiter({ ...terms, store })
  createLimiter({ ...terms, store, prefix: 'sluice' }).close()
  expect(codes()).toEqual([])
  createLimiter({ ...terms, store })
  expect(codes()).toEqual(['SLUICE_SHARED_QUOTA'])
})

test('two middlewares with the same options', async () => {
  const { memoryStore, RoutedLimiter, plain } = await fresh()
  const options = { ...terms, store: memoryStore() }
  for (let i = 0; i < 2; i += 1) new RoutedLimiter(options, plain)
  expect(codes()).toEqual(['SLUICE_SHARED_QUOTA'])
})

describe('no warning', () => {
  test('on stores of their own, with other options, or another prefix', async () => {
    const { createLimiter, memoryStore } = await fresh()
    const store = memoryStore()
    for (let i = 0; i < 2; i += 1) createLimiter(terms).close()
    for (let i = 0; i < 2; i += 1) createLimiter({ ...terms, store: memoryStore() })
    createLimiter({ ...terms, store })
    createLimiter({ ...terms, store, window: '2h' })
    createLimiter({ ...terms, store, prefix: 'contact' })
    expect(codes()).toEqual([])
  })

  test('where a prefix asks for it', async () => {
    const { createLimiter, memoryStore } = await fresh()
    const store = memoryStore()
    for (let i = 0; i < 2; i += 1) createLimiter({ ...terms, store, prefix: 'forms' })
    createLimiter({ ...terms, store })
    createLimiter({ ...terms, store, prefix: 'sluice' })
    expect(codes()).toEqual([])
  })

  test('between a limiter and its routes', async () => {
    const { memoryStore, RoutedLimiter, plain } = await fresh()
    const routes = { 'POST /a': { cost: 2 }, '/b': { limit: 3 }, '/c': { limit: 3 } }
    new RoutedLimiter({ ...terms, store: memoryStore(), routes }, plain)
    expect(codes()).toEqual([])
  })

  test('once the other is closed', async () => {
    const { createLimiter, memoryStore } = await fresh()
    const store = memoryStore()
    // One that may share it stays open.
    createLimiter({ ...terms, store, prefix: 'sluice' })
    for (let i = 0; i < 3; i += 1) {
      const limiter = createLimiter({ ...terms, store })
      limiter.close()
      limiter.close()
    }
    expect(codes()).toEqual([])
  })

  test('however many different limiters there are', async () => {
    const { createLimiter, memoryStore } = await fresh()
    const store = memoryStore()
    for (let seconds = 1; seconds <= 3000; seconds += 1)
      createLimiter({ ...terms, window: seconds * 1000, store })
    expect(codes()).toEqual([])
  })
})

describe('two limiters with different limits that would count in each other', () => {
  const bucket = { algorithm: 'token-bucket' } as const
  test.each<[object, object, string]>([
    [{}, { limit: 100 }, '3'],
    [{}, { limit: 100, prefix: 'sluice' }, '3'],
    [{ ...bucket, burst: 9 }, bucket, '3,burst=9'],
    [{ ...bucket, limit: 1 }, { ...bucket, limit: 1, burst: 2 }, '1'],
  ])('%j and %j', async (options, others, expected) => {
    const { createLimiter, memoryStore } = await fresh()
    const store = memoryStore()
    const login = createLimiter({ ...terms, ...options, store })
    const create = () => createLimiter({ ...terms, ...others, store })
    expect(create).toThrow(
      expect.objectContaining({
        code: 'SLUICE_OPTION_CONFLICT',
        option: 'limit',
        expected: expect.stringMatching(`^${expected}, as in the other`),
        fix: expect.stringMatching(/prefix: 'login'/),
      }),
    )
    login.close()
    create().close()
  })

  test('also once a third one has been closed twice', async () => {
    const { createLimiter, memoryStore } = await fresh()
    const options = { ...terms, store: memoryStore(), prefix: 'sluice' }
    const [closed, open] = [1, 2].map(() => createLimiter(options))
    closed?.close()
    closed?.close()
    const other = () => createLimiter({ ...options, limit: 100 })
    expect(other).toThrow('as in the other')
    open?.close()
    other().close()
  })

  test('two middlewares, one of them with a function', async () => {
    const { memoryStore, RoutedLimiter, plain } = await fresh()
    const options = { ...terms, store: memoryStore() }
    new RoutedLimiter(options, plain)
    const other = () => new RoutedLimiter({ ...options, limit: () => 3 }, plain)
    expect(other).toThrow(expect.objectContaining({ received: 'a function of the request' }))
  })
})
