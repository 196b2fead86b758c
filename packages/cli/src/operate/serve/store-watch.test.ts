import { expect, it, jest } from '@jest/globals'
import {
  createLimiter,
  type InspectableStore,
  type InspectOptions,
  memoryStore,
} from '@sluice/core'
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

it('shows the last complete reading until the next one is complete', async () => {
  const store = memoryStore()
  createLimiter({ store, limit: 5, window: '1d' }).consume('client')
  let now = 0
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now)
  const shown: (boolean | undefined)[] = []
  const slow = {
    mode: 'sync',
    async *inspect({ onProgress }: InspectOptions) {
      yield* store.inspect()
      // Longer than a second: what has been read so far is given.
      now += 2000
      onProgress?.({ looked: 1, unreadable: [] })
      shown.push(watch.look().ranking?.isComplete)
    },
  } as unknown as InspectableStore
  const policies = new PolicyWatch(slow, 'sluice', false)
  const watch = new StoreWatch(new Ranker(slow, {}, 5), policies, async () => [], 1)
  await until(async () => watch.look().history.length >= 2, { what: 'two readings' })
  expect(shown.slice(0, 2)).toEqual([false, true])
  clock.mockRestore()
  await watch.close()
  store.close()
})
