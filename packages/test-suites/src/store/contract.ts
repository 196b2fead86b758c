import { type Charge, createLimiter, type Decision, type StoreResult } from '@sluice/core'
import { expect } from 'expect'
import { copy, LIMIT, limitOf, type StoreTests, WINDOW } from './store-kit.ts'

function isResult(answer: unknown): answer is StoreResult {
  return typeof answer === 'object' && answer !== null && 'outcomes' in answer
}

export function contracts({ test }: StoreTests, mode: 'sync' | 'async'): void {
  const window = limitOf('fixed-window')
  const bucket = limitOf('token-bucket')

  test('all policies are charged, or none', async ({ open }) => {
    await open([window]).consume('client', 3)
    const { consume, remaining } = open([window, bucket, limitOf('sliding-log')])
    const refused = await consume('client', 3)
    expect(refused.admitted).toBe(false)
    expect(refused.outcomes.map(({ admitted }) => admitted)).toEqual([false, true, true])
    expect(await remaining('client')).toEqual([2, LIMIT, LIMIT])
    expect((await consume('client', 2)).admitted).toBe(true)
    expect(await remaining('client')).toEqual([0, LIMIT - 2, LIMIT - 2])
  })

  test('if one policy refuses, the others are shown uncharged', async ({ open }) => {
    const { consume, block } = open([window, bucket])
    await open([window]).consume('client', LIMIT)
    const refused = await consume('client', 2)
    expect(refused.outcomes.map(({ remaining }) => remaining)).toEqual([0, LIMIT])
    await block('client', 1)
    const blocked = await consume('client')
    expect(blocked.outcomes.map(({ admitted }) => admitted)).toEqual([false, false])
  })

  test('the policies of a request may differ in cost', async ({ open }) => {
    const { ledger, charges, remaining } = open([window, bucket])
    const [first, second] = charges('client', 1)
    await ledger.consume([first!, { ...second!, cost: 4 }])
    expect(await remaining('client')).toEqual([LIMIT - 1, LIMIT - 4])
    const result = await ledger.consume([first!, { ...second!, cost: 2 }])
    expect(result.outcomes.map(({ admitted }) => admitted)).toEqual([true, false])
    expect(await remaining('client')).toEqual([LIMIT - 1, LIMIT - 4])
  })

  test('charges stay as they are, and are used again after the answer', async ({ open }) => {
    const { ledger, remaining } = open([window])
    const charge: Charge = { key: '', limit: window, cost: 0 }
    const use = async (act: (charges: readonly Charge[]) => unknown, key: string, cost: number) => {
      Object.assign(charge, { key, cost })
      await act([charge])
      expect(charge).toEqual({ key, limit: window, cost })
    }
    for (const [key, cost] of [
      ['first', 1],
      ['second', 2],
      ['third', 3],
    ] as const) {
      await use((charges) => ledger.consume(charges), key, cost)
    }
    await use((charges) => ledger.settle(charges), 'first', 2)
    await use((charges) => ledger.peek(charges), 'second', LIMIT)
    Object.assign(charge, { key: 'never', cost: LIMIT })
    for (const [key, left] of [
      ['first', LIMIT - 3],
      ['second', LIMIT - 2],
      ['third', LIMIT - 3],
      ['never', LIMIT],
    ] as const) {
      expect(await remaining(key)).toEqual([left])
    }
  })

  test('charges that nobody can change are decided, corrected and shown', async ({ open }) => {
    const { ledger, remaining } = open([window, bucket])
    const charges = [window, bucket].map((limit) =>
      Object.freeze({ key: 'client', limit, cost: 2 }),
    )
    Object.freeze(charges)
    await ledger.consume(charges)
    await ledger.consume(charges)
    await ledger.consume(charges)
    await ledger.peek(charges)
    expect(await remaining('client')).toEqual([1, 1])
    await ledger.settle(charges.map((charge) => Object.freeze({ ...charge, cost: -1 })))
    expect(await remaining('client')).toEqual([2, 2])
  })

  test('simultaneous requests are admitted up to the limit, exactly', async ({ open }) => {
    const { ledger, charges } = open([window, bucket])
    const results = Array.from({ length: 300 }, async () => {
      const result = ledger.consume(charges('client', 1))
      return result instanceof Promise ? await result : copy(result)
    })
    const admitted = (await Promise.all(results)).filter((result) => result.admitted)
    expect(admitted.map(({ outcomes }) => outcomes[0]!.remaining)).toEqual([4, 3, 2, 1, 0])
  })

  test('so they are where they come by several stores that share their states', async ({
    open,
    another,
  }) => {
    const other = (await another()).open([window])
    const own = open([window])
    await own.consume('client')
    if ((await other.remaining('client'))[0] === LIMIT) return
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? own : other).consume('client')),
    )
    expect(results.filter(({ admitted }) => admitted)).toHaveLength(LIMIT - 1)
    expect(await other.remaining('client')).toEqual([0])
  })

  test('calls of one moment happen in the order in which they are made', async ({ open }) => {
    const { ledger, charges } = open([window])
    const override = { limit: 4, until: Infinity }
    const grant = { units: 3, until: undefined, id: '' }
    const calls: (() => unknown)[] = [
      () => ledger.consume(charges('client', 1)),
      () => ledger.peek(charges('client', 0)),
      () => ledger.settle(charges('client', 2)),
      () => ledger.peek(charges('client', 0)),
      () => ledger.override(0, 'client', window, override),
      () => ledger.consume(charges('client', 1)),
      () => ledger.grant(0, 'client', window, grant),
      () => ledger.consume(charges('client', 1)),
      () => ledger.block('client', 1000),
      () => ledger.consume(charges('client', 1)),
      () => ledger.reset('client'),
      () => ledger.consume(charges('client', 1)),
    ]
    const answers = calls.map((call) => {
      const answer = call()
      // A synchronous ledger uses its results again.
      return isResult(answer) ? copy(answer) : answer
    })
    const results = (await Promise.all(answers)).filter(isResult)
    const remaining = results.map(({ outcomes }) => outcomes[0]?.remaining)
    expect(remaining).toEqual([4, 4, 2, 0, 2, 0, 6])
  })

  test('so do calls of a limiter, whatever it decides together', async ({
    store,
    clock,
    prefix,
  }) => {
    const options = { store, prefix, limit: 10, window: '1h', algorithm: 'fixed-window' } as const
    const limiter = createLimiter({ ...options, deadline: 60_000 })
    // A store that loads or compiles for the first call must not delay it.
    for (let round = 0; round < 2; round += 1) {
      const key = `client ${round}`
      const calls: (() => unknown)[] = [
        () => limiter.consume(key),
        () => limiter.peek(key),
        () => limiter.override(key, { limit: 2, until: clock() + WINDOW }),
        () => limiter.consume(key),
        () => limiter.override(key, null),
        () => limiter.grant(key, 5),
        () => limiter.consume('another'),
        ...Array.from({ length: 14 }, () => () => limiter.consume(key)),
        () => limiter.reset(key),
        () => limiter.consume(key),
        () => limiter.settle(key, 3),
        () => limiter.consume(key),
        () => limiter.block(key, '1s'),
        () => limiter.peek(key),
      ]
      const answers = (await Promise.all(calls.map((call) => call()))) as (Decision | undefined)[]
      const decisions = answers.filter((answer) => answer?.policies?.[0]?.key === key)
      const said = decisions.map((each) => (each?.allowed ? each.remaining : 'refused'))
      const many = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 'refused']
      expect(said).toEqual([9, 9, 0, ...many, 14, 10, 'refused'])
    }
    limiter.close()
  })

  test(`answers ${mode === 'sync' ? 'synchronously' : 'with promises'}`, async ({ open }) => {
    const { ledger, charges } = open([window])
    const answers = [
      ledger.consume(charges('client', 1)),
      ledger.peek(charges('client', 1)),
      ledger.settle(charges('client', 1)),
      ledger.block('client', 1),
      ledger.reset('client'),
    ]
    const promises = answers.map((answer) => answer instanceof Promise)
    await Promise.all(answers)
    expect(new Set(promises)).toEqual(new Set([mode === 'async']))
  })

  test('says when it decided, on its own clock, and that it was the store', async ({
    open,
    clock,
  }) => {
    const { consume, peek } = open([window])
    for (const step of [0, 1, WINDOW, -3 * WINDOW]) {
      clock.advance(step)
      for (const { at, source } of [await consume('client'), await peek('client')]) {
        expect([at, source]).toEqual([clock(), 'store'])
      }
    }
  })
}
