import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { SluiceError } from '../../errors/sluice-error.ts'
import { Breaker, StoreHealth } from './breaker.ts'

/** Fails often enough to open a breaker. */
function open(breaker: Breaker, now = 0): boolean[] {
  return Array.from({ length: 5 }, (_, i) => breaker.failed(now - 100 + i, now, false))
}

describe('a breaker', () => {
  beforeEach(() => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5)
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('opens with the fifth failure in a row, and says so once', () => {
    const breaker = new Breaker()
    expect(open(breaker)).toEqual([false, false, false, false, true])
    expect(breaker.isOpen).toBe(true)
    expect(breaker.failed(50, 50, false)).toBe(false)
  })

  it('starts to count again after a success', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 20; i += 1) {
      breaker.failed(i, i, false)
      if (i % 4 === 3) breaker.succeeded()
    }
    expect(breaker.isOpen).toBe(false)
  })

  it('counts calls that were made in the same ms as one', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 100; i += 1) breaker.failed(1 + i / 101, 100, false)
    expect(breaker.isOpen).toBe(false)
    for (let i = 2; i < 6; i += 1) breaker.failed(i, 100, false)
    expect(breaker.isOpen).toBe(true)
  })

  it('opens immediately if one failure is enough', () => {
    const breaker = new Breaker()
    expect(breaker.failed(0, 0, true)).toBe(true)
  })

  it('lets probes through further and further apart, up to two seconds', () => {
    const breaker = new Breaker()
    open(breaker, 1000)
    const times: number[] = []
    for (let now = 1000; now < 10_000; now += 1) {
      if (!breaker.isProbeDue(now)) continue
      times.push(now - 1000)
      breaker.schedule(now)
    }
    expect(times).toEqual([250, 750, 1750, 3750, 5750, 7750])
  })

  it.each([
    [0, 125],
    [0.999999, 375],
  ])('spreads them by half up and down', (random, first) => {
    jest.mocked(Math.random).mockReturnValue(random)
    const breaker = new Breaker()
    open(breaker)
    expect([breaker.isProbeDue(first - 1), breaker.isProbeDue(first)]).toEqual([false, true])
  })

  it('lets none through while closed', () => {
    const breaker = new Breaker()
    expect(breaker.isProbeDue(1e9)).toBe(false)
    open(breaker)
    breaker.close(1)
    expect(breaker.isProbeDue(1e9)).toBe(false)
  })

  it('probes immediately when an answer has come back', () => {
    const breaker = new Breaker()
    open(breaker)
    breaker.hasten(10)
    expect(breaker.isProbeDue(10)).toBe(true)
  })

  it('keeps the long waits if it opens again soon, but not after ten steady seconds', () => {
    const breaker = new Breaker()
    open(breaker, 0)
    for (const now of [250, 750, 1750, 3750]) breaker.schedule(now)
    breaker.close(4000)
    open(breaker, 5000)
    expect([breaker.isProbeDue(6999), breaker.isProbeDue(7000)]).toEqual([false, true])
    breaker.close(7000)
    open(breaker, 17_001)
    expect([breaker.isProbeDue(17_250), breaker.isProbeDue(17_251)]).toEqual([false, true])
  })
})

function down(reason: string): string {
  return `The store failed, and is not used until it recovers: ${reason} (SLUICE_STORE_DOWN, https://sluicejs.github.io/sluice/errors#sluice_store_down)`
}

describe('the health of a store', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('warns of the first shard that is down, and when all of them are up', () => {
    const warnings: string[] = []
    jest
      .spyOn(process, 'emitWarning')
      .mockImplementation(((message: string) => warnings.push(message)) as never)
    const health = new StoreHealth()
    health.down(new Error('the first'))
    health.down(new Error('the second'))
    health.up()
    expect(warnings).toEqual([down('the first')])
    health.up()
    health.down('text')
    expect(warnings.slice(1)).toEqual([
      'The store has recovered, and decides again. (SLUICE_STORE_UP, https://sluicejs.github.io/sluice/errors#sluice_store_up)',
      down('text'),
    ])
  })

  it('warns again, once, when it turns out that the set-up can never work', () => {
    const warnings: string[] = []
    jest
      .spyOn(process, 'emitWarning')
      .mockImplementation(((message: string) => warnings.push(message)) as never)
    const health = new StoreHealth()
    const setUp = new SluiceError({
      code: 'SLUICE_REDIS_AUTH',
      option: 'store',
      expected: 'credentials',
      received: 'WRONGPASS',
      fix: 'Give them.',
    })
    health.down(new Error('no answer within 100 ms'))
    health.setUpFails(setUp)
    health.setUpFails(setUp)
    health.down(setUp)
    expect(warnings).toEqual([down('no answer within 100 ms'), down(setUp.message)])
    health.up()
    // One that works again explains nothing anew.
    health.setUpFails(setUp)
    expect(warnings).toHaveLength(2)
    health.up()
    health.down(setUp)
    expect(warnings).toHaveLength(4)
  })
})
