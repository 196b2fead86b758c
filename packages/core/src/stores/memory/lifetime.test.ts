import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createLimiter } from '../../limiter.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { memoryStore } from './memory-store.ts'

/** Runs a module with `memoryStore` and `createLimiter`; resolves with its exit code and output. */
async function run(code: string) {
  const imports = `
    import { createLimiter } from ${JSON.stringify(join(__dirname, '../../limiter.ts'))}
    import { memoryStore } from ${JSON.stringify(join(__dirname, 'memory-store.ts'))}`
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', imports + code],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: 15_000 },
  )
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const [exitCode] = await once(child, 'close')
  return { exitCode, output: output.trim() }
}

afterEach(() => {
  jest.useRealTimers()
})

/** Fake timers, but `performance.now()` as it is: the sweep measures its slices. */
function fakeTimers() {
  jest.useFakeTimers({ doNotFake: ['performance'] })
}

describe('a process with a memory store', () => {
  it('exits by itself while the store lives and has keys', async () => {
    const { exitCode, output } = await run(`
      const limiter = createLimiter({ store: memoryStore(), limit: 10, window: '1d' })
      for (let i = 0; i < 1000; i += 1) limiter.consume('client-' + i)
      process.on('exit', () => console.log('exits'))`)
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'exits' })
  })

  it('has one timer for the store, none for a key, and none once it is closed', async () => {
    const { output } = await run(`
      let timers = 0
      const started = globalThis.setTimeout, repeated = globalThis.setInterval
      globalThis.setTimeout = (...all) => { timers += 1; return started(...all) }
      globalThis.setInterval = (...all) => {
        timers += 1
        const timer = repeated(...all)
        const clear = timer.unref.bind(timer)
        timer.unref = () => { globalThis.sweeper = timer; return clear() }
        return timer
      }
      const store = memoryStore()
      const limiter = createLimiter({ store, limit: 10, window: '1d' })
      for (let i = 0; i < 1000; i += 1) limiter.consume('client-' + i)
      store.close()
      console.log(timers, sweeper._destroyed)`)
    expect(output).toBe('1 true')
  })
})

describe('the sweep', () => {
  it('frees what has expired although nobody asks for it', () => {
    fakeTimers()
    const clock = manualClock()
    const store = memoryStore({ clock })
    const limiter = createLimiter({ store, limit: 10, window: 1000, algorithm: 'fixed-window' })
    for (let i = 0; i < 5000; i += 1) limiter.consume(`client-${i}`)
    limiter.block('blocked', '1m')
    clock.advance(999)
    jest.advanceTimersByTime(1000)
    expect(store.size).toBe(5001)
    clock.advance(1)
    jest.advanceTimersByTime(2000)
    expect(store.size).toBe(1)
    expect(limiter.peek('blocked').allowed).toBe(false)
    store.close()
  })

  it('goes on in slices until all is done, one slice at a time', () => {
    fakeTimers()
    const clock = manualClock()
    const store = memoryStore({ clock })
    const limiter = createLimiter({ store, limit: 10, window: 1000, algorithm: 'fixed-window' })
    for (let i = 0; i < 80_000; i += 1) limiter.consume(`client-${i}`)
    clock.advance(1000)
    // Each look at the time finds a slice used up; so the sweep takes longer than its interval.
    let now = 0
    const time = jest.spyOn(performance, 'now').mockImplementation(() => (now += 10))
    for (let before = 80_000; before > 0; before = store.size) {
      jest.advanceTimersToNextTimer()
      expect(before - store.size).toBeLessThanOrEqual(256)
      // The interval, and the next slice.
      expect(jest.getTimerCount()).toBeLessThanOrEqual(2)
    }
    time.mockRestore()
    store.close()
  })
})

describe('close()', () => {
  it('ends the timers and forgets every key', () => {
    fakeTimers()
    const store = memoryStore()
    const limiter = createLimiter({ store, limit: 10, window: '1m' })
    limiter.consume('a', { cost: 9 })
    expect(jest.getTimerCount()).toBeGreaterThan(0)
    store.close()
    jest.advanceTimersByTime(0)
    expect(jest.getTimerCount()).toBe(0)
    expect(store.size).toBe(0)
    expect(limiter.consume('a').remaining).toBe(9)
  })

  it('leaves a store that still decides, within its bound', () => {
    const store = memoryStore({ maxKeys: 10 })
    const limiter = createLimiter({ store, limit: 10, window: '1m' })
    store.close()
    for (let i = 0; i < 100; i += 1) limiter.consume(`client-${i}`)
    expect(store.size).toBe(10)
  })
})
