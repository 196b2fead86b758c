import { expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import { until } from '@sluice/test-harness/redis'
import { expectShown } from './document.ts'
import { inProgress } from './in-progress.ts'
import { serveRecipe } from './site.ts'

test('of 20 at once, as many are served as may be in progress, and as many again afterwards', async () => {
  const store = memoryStore({ clock: manualClock() })
  let left: () => Promise<number[]> = async () => []
  const site = await serveRecipe(
    (app, handler) => {
      const limit = inProgress(app, store, handler)
      left = async () => {
        const { policies } = await limit.limiter.peek('127.0.0.1')
        return policies.map(({ remaining }) => remaining)
      }
      return limit
    },
    'POST',
    '/completions',
  )
  for (const requests of [55, 50]) {
    const replies = await site.atOnce(20, (response) => response.json({}))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5)
    await until(async () => (await left())[0] === 5, { what: 'slots are free' })
    expect(await left()).toEqual([5, requests])
  }
  await site.stop()
  store.close()
})

test('the page shows this code', () => expectShown('in-progress.ts'))
