import { expect, it } from '@jest/globals'
import { type InspectableStore, memoryStore } from '@sluice/core'
import { until } from '@sluice/test-harness/redis'
import { Ranker } from '../ranking.ts'
import { PolicyWatch } from './policy-watch.ts'
import { StoreWatch } from './store-watch.ts'

it('says which reading follows one that failed', async () => {
  const store = memoryStore()
  let readings = 0
  const failsOnce = {
    mode: 'sync',
    async *inspect() {
      readings += 1
      if (readings === 2) throw new Error('the store is away')
      yield* store.inspect()
    },
  } as unknown as InspectableStore
  const watch = new StoreWatch(
    new Ranker(failsOnce, {}, 5),
    new PolicyWatch(failsOnce, 'sluice', false),
    async () => [],
    1,
  )
  await until(async () => watch.look().history.length >= 3, { what: 'three readings' })
  const gaps = watch
    .look()
    .history.slice(0, 3)
    .map(({ isAfterGap }) => isAfterGap)
  expect(gaps).toEqual([false, true, false])
  await watch.close()
  store.close()
})
