// A store that decides keys separately, of which the part with the users fails.

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import type { Store } from '../stores/store.ts'
import { type FailingStore, failingStore, type ManualClock, manualClock } from '../testing/index.ts'
import type { PolicyOptions } from './options.generated.ts'
import { Policy } from './policy.ts'
import { StoreLimiter } from './store-limiter.ts'

const MINUTE = 60_000

let clock: ManualClock
let store: FailingStore
beforeEach(() => {
  clock = manualClock(MINUTE * 30_000_000)
  store = failingStore({ clock })
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => {
  store.close()
  jest.restoreAllMocks()
})

/** What the part of the addresses waits for before it answers. */
let answering: Promise<void> | undefined

/** Decides by the address and by the user, whose part of the store fails. */
function limiterOf(
  localShare: number,
  address: Partial<PolicyOptions>,
  user: Partial<PolicyOptions>,
) {
  const apart: Store<'async'> = {
    ...store,
    open(...opened) {
      const ledger = store.open(...opened)
      const shard = (key: string) => (key.startsWith('user:') ? 1 : 0)
      return {
        ...ledger,
        shard,
        async decide(requests, isPeek) {
          if (shard(requests[0]?.[0]?.key as string) === 1) throw new Error('this part is down')
          await answering
          return ledger.decide(requests, isPeek)
        },
      }
    },
  }
  const policies = [
    new Policy('', { name: 'address', window: MINUTE, ...address } as PolicyOptions),
    new Policy('', { name: 'user', window: MINUTE, ...user } as PolicyOptions),
  ]
  const limiter = new StoreLimiter(policies, {
    store: apart,
    localShare,
    refusalCache: false,
    deadline: '1m',
  })
  return async (...keys: string[]) => {
    const charges = policies.map((policy, i) => ({
      key: keys[i]!,
      limit: policy.anyLimit(),
      cost: 1,
    }))
    const { allowed, policies: decided } = await limiter.decide(charges)
    return { allowed, left: decided[1]?.remaining, source: decided[1]?.source }
  }
}

it('what this process has counted for a part is given back if another part refuses', async () => {
  const decide = limiterOf(1, { limit: 1 }, { limit: 4 })
  expect(await decide('a', 'user:ada')).toEqual({ allowed: true, left: 3, source: 'local' })
  for (let i = 0; i < 5; i += 1) expect((await decide('a', 'user:ada')).allowed).toBe(false)
  expect(await decide('b', 'user:ada')).toEqual({ allowed: true, left: 2, source: 'local' })
})

it('it is given back to the window in which it was counted', async () => {
  const hour = { limit: 1, window: '1h' } as const
  const decide = limiterOf(1, hour, { limit: 4, algorithm: 'fixed-window' })
  expect((await decide('a', 'user:ada')).allowed).toBe(true)
  let answer = () => {}
  answering = new Promise((resolve) => {
    answer = resolve
  })
  const refused = decide('a', 'user:ada')
  await new Promise(setImmediate)
  answering = undefined
  clock.advance(MINUTE)
  expect(await decide('b', 'user:ada')).toMatchObject({ allowed: true, left: 3 })
  answer()
  expect(await refused).toMatchObject({ allowed: false, source: 'local' })
  expect(await decide('c', 'user:ada')).toMatchObject({ allowed: true, left: 2 })
})

it('the share of a part is that of its own policy', async () => {
  const log = { limit: 4, algorithm: 'sliding-log' } as const
  const decide = limiterOf(0.5, { limit: 100, algorithm: 'fixed-window' }, log)
  clock.advance(MINUTE - 10)
  expect(await decide('a', 'user:ada')).toEqual({ allowed: true, left: 1, source: 'local' })
  expect(await decide('a', 'user:ada')).toEqual({ allowed: true, left: 0, source: 'local' })
  // A fixed window would begin anew.
  clock.advance(20)
  expect((await decide('a', 'user:ada')).allowed).toBe(false)
  clock.advance(MINUTE)
  expect((await decide('a', 'user:ada')).allowed).toBe(true)
})
