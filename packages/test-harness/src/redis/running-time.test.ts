import { expect, test } from '@jest/globals'
import { runningTime } from './running-time.ts'

test('takes at least as long, and a stall does not count', async () => {
  const began = performance.now()
  let over = false
  const all = runningTime(50).then(() => {
    over = true
  })
  while (performance.now() - began < 200);
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(over).toBe(false)
  await all
  // Nine more ticks at least, each of which a timer may begin a millisecond early.
  expect(performance.now() - began).toBeGreaterThan(200 + 9 * 4)
})
