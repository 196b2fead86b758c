import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createLimiter } from '../../limiter/create-limiter.ts'
import { runModule } from './testing/run-module.ts'
import { turnClock } from './turn-clock.ts'

const DAY = 86_400_000

afterEach(() => {
  jest.useRealTimers()
})

const oneADay = () => createLimiter({ limit: 1, window: '1d', algorithm: 'fixed-window' })

/** Uses up the quota of a day, and says what comes of it when the day is over. */
function spend(limiter: ReturnType<typeof oneADay>, key: string, nextDay: () => void): boolean[] {
  const before = [limiter.consume(key), limiter.consume(key)]
  nextDay()
  return [...before, limiter.consume(key)].map(({ allowed }) => allowed)
}

describe("with jest's fake timers", () => {
  it.each([
    ['all', {}],
    ['the old ones, which leave Date alone', { legacyFakeTimers: true as const }],
    [
      'Date only',
      { doNotFake: ['setImmediate', 'setTimeout', 'nextTick', 'performance'] as never },
    ],
  ])('the clock is the Date that there is at the moment: %s', (_, config) => {
    const clock = turnClock()
    for (let i = 0; i < 2; i += 1) {
      const real = clock()
      jest.useFakeTimers(config)
      expect(clock()).toBeGreaterThanOrEqual(real)
      if (!('legacyFakeTimers' in config)) {
        for (const ms of [5, 0, 8_000_000_000_000]) {
          jest.setSystemTime(ms)
          expect(clock()).toBe(ms)
        }
      }
      jest.useRealTimers()
      expect(Math.abs(clock() - Date.now())).toBeLessThan(1000)
    }
  })

  it('a limiter made before them gives the quota back when they advance', () => {
    const limiter = oneADay()
    expect(limiter.consume('early').allowed).toBe(true)
    jest.useFakeTimers()
    const nextDay = () => jest.advanceTimersByTime(DAY)
    expect(spend(limiter, 'client', nextDay)).toEqual([true, false, true])
    expect(spend(limiter, 'other', nextDay)).toEqual([true, false, true])
  })

  it('one made under them does so too, and works on when they are gone', async () => {
    jest.useFakeTimers()
    const limiter = oneADay()
    const nextDay = () => jest.advanceTimersByTime(DAY)
    expect(spend(limiter, 'client', nextDay)).toEqual([true, false, true])
    jest.useRealTimers()
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const { allowed, at } = limiter.consume('other')
    expect(allowed).toBe(true)
    expect(Math.abs(at - Date.now())).toBeLessThan(1000)
  })

  it('they run to their end while keys are kept, and count no timer of the store', () => {
    jest.useFakeTimers()
    const limiter = oneADay()
    limiter.consume('client')
    expect(jest.getTimerCount()).toBe(0)
    jest.runAllTimers()
    expect(limiter.consume('client').allowed).toBe(false)
  })
})

describe('with the mock timers of node:test', () => {
  const imports =
    "import { mock } from 'node:test'\nimport { setImmediate as turn } from 'node:timers/promises'"

  it.each(['before', 'after'])(
    'the quota comes back, and all of them run to their end: made %s them',
    async (when) => {
      const { output } = await runModule(`
        ${imports}
        import { syncBuiltinESMExports } from 'node:module'
        const answers = []
        const make = () => createLimiter({ limit: 1, window: '1d', algorithm: 'fixed-window' })
        const ask = (limiter, key) => answers.push(limiter.consume(key).allowed)
        for (const apis of [undefined, ['Date'], ['setImmediate'], ['setTimeout', 'setImmediate']]) {
          const early = make()
          if (${when === 'before'}) ask(early, 'client')
          mock.timers.enable({ apis })
          syncBuiltinESMExports()
          const limiter = ${when === 'before'} ? early : make()
          if (${when !== 'before'}) ask(limiter, 'client')
          ask(limiter, 'client')
          if (apis === undefined || apis[0] === 'Date') {
            mock.timers.setTime(4e12)
            ask(limiter, 'client')
            mock.timers.tick(${DAY})
            ask(limiter, 'client')
            ask(limiter, 'client')
          }
          mock.timers.runAll()
          mock.timers.runAll()
          mock.timers.reset()
          syncBuiltinESMExports()
          await turn()
          await turn()
          answers.push(Math.abs(limiter.consume('another').at - Date.now()) < 1000, '')
        }
        console.log(answers.join(' '))`)
      const faked = 'true false true true false true'
      const real = 'true false true'
      expect(output).toBe([faked, faked, real, real].join('  '))
    },
  )

  it('a module loaded only then follows them, and the real clock afterwards', async () => {
    const { output } = await runModule(
      `
      ${imports}
      mock.timers.enable({ now: 1000 })
      const { createLimiter } = await import(MODULE)
      const limiter = createLimiter({ limit: 1, window: '1s', algorithm: 'fixed-window' })
      const at = [limiter.consume('a').at]
      mock.timers.tick(500)
      at.push(limiter.consume('a').at)
      mock.timers.reset()
      at.push(Math.abs(limiter.consume('a').at - Date.now()) < 1000)
      const later = Date.now() + 20
      while (Date.now() < later) await turn()
      at.push(limiter.consume('a').at >= later)
      console.log(at.join(' '))`,
      { imports: false },
    )
    expect(output).toBe('1000 1500 true true')
  })
})
