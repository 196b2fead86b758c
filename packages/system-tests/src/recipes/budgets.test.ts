import { expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import * as expressPackage from '@sluice/express'
import * as fastifyPackage from '@sluice/fastify'
import * as koaPackage from '@sluice/koa'
import { until } from '@sluice/test-harness/redis'
import { budgets } from './budgets.ts'
import { expectShown } from './document.ts'
import { type Recipe, serveRecipe } from './site.ts'

test('a budget of requests and tokens: what was too much is given back in tokens alone', async () => {
  const store = expressPackage.memoryStore({ clock: manualClock() })
  let left: () => Promise<number[]> = async () => []
  const recipe: Recipe = (app, handler) => {
    const limit = budgets(app, store, handler)
    left = async () => {
      const { policies } = await limit.limiter.peek('127.0.0.1')
      return policies.map(({ remaining }) => remaining)
    }
    return limit
  }
  const site = await serveRecipe(recipe, 'POST', '/completions')
  await site.atOnce(3, (response) => {
    response.locals.tokensUsed = 300
    response.json({})
  })
  await until(async () => (await left())[1] === 99_100, { what: 'it is settled' })
  expect(await left()).toEqual([57, 99_100])
  await site.stop()
  store.close()
})

test('the page shows this code', () => expectShown('budgets.ts'))

test('each adapter exports rateLimit as its default too', () => {
  for (const each of [expressPackage, fastifyPackage, koaPackage]) {
    expect(each.default).toBe(each.rateLimit)
  }
})
