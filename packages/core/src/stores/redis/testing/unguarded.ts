import { type RedisClient, redisStore, type Store } from '../../../index.ts'

/**
 * The Redis store with nothing in front: a limiter waits for it as long as it takes, and its errors
 * come through. A store that says it is no remote one is taken as it is.
 */
export function unguarded(client: RedisClient): Store<'async'> {
  return withoutGuard(redisStore(client))
}

export function withoutGuard(store: Store<'async'>): Store<'async'> {
  return {
    ...store,
    mode: 'sync' as never,
    open(...of) {
      const ledger = store.open(...of)
      const decide = async (...asked: Parameters<typeof ledger.decide>) => {
        const results = await ledger.decide(...asked)
        for (const result of results) if (result instanceof Error) throw result
        return results
      }
      return { shard: ledger.shard, decide, change: (...given) => ledger.change(...given) }
    },
  }
}
