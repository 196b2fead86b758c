import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'

const warnings: { code: string; text: string }[] = []
beforeEach(() => {
  warnings.length = 0
  jest.resetModules()
  jest.spyOn(process, 'emitWarning').mockImplementation(((text: string, { code }: never) => {
    warnings.push({ code, text })
  }) as typeof process.emitWarning)
})

const closing: { close(): void }[] = []
afterEach(() => {
  jest.restoreAllMocks()
  for (const each of closing.splice(0)) each.close()
})

/** A new module, as in a new process: it counts the limiters of a whole process. */
async function fresh() {
  const { createLimiter } = await import('./create-limiter.ts')
  const { memoryStore } = await import('../stores/memory/memory-store.ts')
  const make = (limit = 5, options: object = {}) => {
    const limiter = createLimiter({ limit, window: '1m', ...options })
    closing.push(limiter)
    return limiter
  }
  return { make, memoryStore }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** What a handler does, once for each request. */
async function requests(count: number, handle: (i: number) => void): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    handle(i)
    await nextTurn()
  }
}

test('a limiter made inside a request handler: one warning says where to make it', async () => {
  const { make } = await fresh()
  await requests(9, () => void make().consume('a'))
  expect(warnings).toEqual([])
  await requests(20, () => void make().consume('a'))
  expect(warnings.map(({ code }) => code)).toEqual(['SLUICE_MADE_PER_REQUEST'])
  expect(warnings[0]?.text).toMatch(/once, outside the handler/)
})

test('limiters that are used again cause no warning, however many', async () => {
  const { make } = await fresh()
  const limiters = new Map<number, ReturnType<typeof make>>()
  await requests(60, (i) => {
    const tenant = i % 8
    const limiter = limiters.get(tenant) ?? make()
    limiters.set(tenant, limiter)
    limiter.consume('a')
  })
  expect(warnings).toEqual([])
})

const requestTimes = { 'one after the other': 1, 'at the same time': 50 }
for (const [when, together] of Object.entries(requestTimes))
  test(`a limiter made in a handler and used after an await: 50 requests ${when} cause one warning`, async () => {
    const { make } = await fresh()
    const handle = async () => {
      const limiter = make()
      await nextTurn()
      limiter.consume('a')
    }
    for (let i = 0; i < 50; i += together)
      await Promise.all(Array.from({ length: together }, handle))
    expect(warnings.map(({ code }) => code)).toEqual(['SLUICE_MADE_PER_REQUEST'])
  })

test('twenty limiters made at start, each used once so far, cause no warning', async () => {
  const { make } = await fresh()
  const limiters = Array.from({ length: 20 }, () => make())
  await requests(20, (i) => void limiters[i]?.consume('a'))
  expect(warnings).toEqual([])
})

test.each(['different from each other', 'closed', 'on a given store'])(
  'limiters that are %s cause no warning',
  async (kind) => {
    const { make, memoryStore } = await fresh()
    const store = memoryStore()
    closing.push(store)
    await requests(30, (i) => {
      const limiter = make(
        kind === 'different from each other' ? i : 5,
        kind.includes('store') ? { store, prefix: 'given' } : {},
      )
      limiter.consume('a')
      if (kind === 'closed') limiter.close()
    })
    expect(warnings).toEqual([])
  },
)

test('fake timers make no difference', async () => {
  const { make } = await fresh()
  jest.useFakeTimers()
  const limiter = make()
  for (let i = 0; i < 30; i += 1) {
    limiter.consume('a')
    make()
    await Promise.resolve()
  }
  expect(warnings).toEqual([])
  jest.useRealTimers()
})
