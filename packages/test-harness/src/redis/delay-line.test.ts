import { expect, test } from '@jest/globals'
import { DelayLine } from './delay-line.ts'
import { until } from './until.ts'

test('thousands of tasks run in order, and none early', async () => {
  const line = new DelayLine()
  const delayMs = 15
  let earliest = Number.POSITIVE_INFINITY
  const order: number[] = []
  for (let i = 0; i < 5_000; i++) {
    const due = performance.now() + delayMs
    line.push(() => {
      order.push(i)
      earliest = Math.min(earliest, performance.now() - due)
    }, delayMs)
    if (i % 10 === 0) await new Promise(setImmediate)
  }
  await until(() => order.length === 5_000, { what: 'all tasks have run' })
  expect(order).toEqual(order.map((_, index) => index))
  expect(earliest).toBeGreaterThan(-0.6)
})

test('a task waits for a slower one before it', async () => {
  const line = new DelayLine()
  const order: string[] = []
  line.push(() => order.push('slow'), 20)
  line.push(() => order.push('fast'), 0)
  expect(order).toEqual([])
  await until(() => order.length === 2, { what: 'both tasks have run' })
  expect(order).toEqual(['slow', 'fast'])
})

test('without a delay a task runs immediately', () => {
  let ran = false
  new DelayLine().push(() => {
    ran = true
  }, 0)
  expect(ran).toBe(true)
})

test('what waits is dropped by clear, and what comes later is not', async () => {
  const [cleared, other] = [new DelayLine(), new DelayLine()]
  const order: string[] = []
  cleared.push(() => order.push('dropped'), 5)
  cleared.clear()
  cleared.push(() => order.push('later'), 10)
  other.push(() => order.push('kept'), 20)
  await until(() => order.includes('kept'), { what: 'the last task has run' })
  expect(order).toEqual(['later', 'kept'])
})
