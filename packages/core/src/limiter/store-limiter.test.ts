import { afterEach, describe, expect, it, jest } from '@jest/globals'
import type { ThresholdEvent } from '../events.ts'
import { type MemoryStore, memoryStore } from '../stores/memory/memory-store.ts'
import type { Change, DecisionSource, Store } from '../stores/store.ts'
import { manualClock } from '../testing/index.ts'
import { listen } from '../testing/listen.ts'
import type { Decision } from './decision.ts'
import type { Limiter } from './limiter.ts'
import { Policy } from './policy.ts'
import { StoreLimiter } from './store-limiter.ts'

const stores: MemoryStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

/** A limiter whose limit is a function of the request, before any request. Its clock stands still. */
function varying(algorithm: 'sliding-window' | 'token-bucket') {
  const store = memoryStore({ clock: manualClock() })
  stores.push(store)
  const policy = new Policy('', { limit: () => 5, window: '1m', algorithm })
  return new StoreLimiter([policy], { store }) as Limiter<'sync'>
}

const ALGORITHMS = ['sliding-window', 'token-bucket'] as const

it.each(ALGORITHMS)('%s: blocks and resets before any limit has been used', (algorithm) => {
  const limiter = varying(algorithm)
  limiter.block('a', '1h')
  expect(limiter.consume('a', { limit: 100 }).allowed).toBe(false)
  expect(limiter.consume('b', { limit: 100 }).allowed).toBe(true)
  limiter.reset('a')
  expect(limiter.consume('a', { limit: 7 }).allowed).toBe(true)
})

it.each(ALGORITHMS)('%s: a client whose limit grows keeps what it has used', (algorithm) => {
  const limiter = varying(algorithm)
  limiter.consume('a', { limit: 10, cost: 7 })
  expect(limiter.peek('a', { limit: 25 }).remaining).toBe(18)
})

it('3,000 values of a limit that is a function open one ledger of a bucket, not 3,000', () => {
  const store = memoryStore()
  stores.push(store)
  const open = jest.spyOn(store, 'open')
  const policy = new Policy('', { limit: () => 5, window: '1m', algorithm: 'token-bucket' })
  const limiter = new StoreLimiter([policy], { store }) as Limiter<'sync'>
  for (let limit = 1; limit <= 3000; limit += 1) limiter.consume(`${limit}`, { limit })
  expect(open).toHaveBeenCalledTimes(1)
})

describe('policies that were decided separately, one by the store and one by this process', () => {
  const sources: readonly DecisionSource[] = ['store', 'local']

  /** A store that says so, and notes what changes. */
  function open() {
    const store = memoryStore({ clock: manualClock() })
    stores.push(store)
    const changes: Change[] = []
    const parted: Store<'sync'> = {
      ...store,
      mode: 'sync',
      close: () => {},
      open(keyspaces, prefix) {
        const ledger = store.open(keyspaces, prefix)
        return {
          decide: (...asked) =>
            ledger.decide(...asked).map((result) => ({
              ...result,
              origins: sources.map((source) => ({ at: store.clock(), source })),
            })),
          change: (change, told) => {
            changes.push(change)
            told?.({ place: 1, before: 2, remaining: 1, resetMs: 1, limit: 10, at: store.clock() })
            return undefined
          },
        }
      },
    }
    const policies = ['one', 'other'].map((name) => {
      return new Policy('', { name, limit: 10, window: '1m', alertAt: [0.8] })
    })
    const limiter = new StoreLimiter(policies, { store: parted, localShare: 0.5 })
    return { changes, limiter: limiter as StoreLimiter & Limiter<'sync'> }
  }

  it('are corrected there, also if that was at the same time', () => {
    const { changes, limiter } = open()
    const decision = limiter.consume('a') as Decision
    const charges = limiter.compiledPolicies.map((policy) => {
      return { key: 'a', limit: policy.limitFor(), cost: 3, claim: [7, 0, 2] }
    })
    limiter.settleCharges(charges, decision)
    const made = changes.map((each) => {
      const { source, charges } = each as Extract<Change, { kind: 'settle' }>
      return [source, charges.map(({ cost, claim }) => [cost, claim?.[2] ?? 0])]
    })
    const [corrected, left] = [
      [3, 2],
      [0, 0],
    ]
    expect(made).toEqual([
      ['store', [corrected, left]],
      ['local', [left, corrected]],
    ])
  })

  it('each cross the shares of the limit that has decided', () => {
    const { limiter } = open()
    const heard = listen<ThresholdEvent>('sluice:threshold')
    for (let i = 0; i < 8; i += 1) limiter.consume('a')
    heard.stop()
    expect(heard.events.map(({ policy, limit }) => [policy, limit])).toEqual([['one', 10]])
  })

  it('each cross them also by a settlement', () => {
    const { limiter } = open()
    const decision = limiter.consume('a') as Decision
    const charges = limiter.compiledPolicies.map((policy) => {
      return { key: 'a', limit: policy.limitFor(), cost: 3 }
    })
    const heard = listen<ThresholdEvent>('sluice:threshold')
    limiter.settleCharges(charges, decision)
    heard.stop()
    expect(heard.events.map(({ policy, limit }) => [policy, limit])).toContainEqual(['other', 5])
  })
})
