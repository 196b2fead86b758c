import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { Breaker } from './breaker.ts'

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
