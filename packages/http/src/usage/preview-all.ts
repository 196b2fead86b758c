import type { Charge, Decision, StoreMode, StoreResult } from '@sluice/core'
import {
  type BanKeyspace,
  type Counted,
  isTooMuch,
  type PolicyLedgers,
  type StoreLimiter,
  toDecision,
  workOf,
} from '@sluice/core/internal'

/** The limiters whose policies and bans one call reads. */
interface Group {
  readonly limiters: readonly StoreLimiter[]
  readonly ledgers: PolicyLedgers<StoreMode>
}

/** The groups by the first limiter of a middleware. */
const known = new WeakMap<
  StoreLimiter,
  { readonly groups: readonly Group[]; readonly size: number }
>()

/**
 * The decisions that charges of several limiters on one store would get now: on a remote store in one call for as
 * much work as a call may be.
 * @param asked the charges of each limiter, the same limiters each time, or more; undefined: they can't be read
 */
export async function previewAll(
  asked: ReadonlyMap<StoreLimiter, readonly Charge[] | undefined>,
): Promise<ReadonlyMap<StoreLimiter, Decision>> {
  const decisions = new Map<StoreLimiter, Decision>()
  const [[first]] = [...asked] as [[StoreLimiter, unknown]]
  if (first.store.mode === 'sync') {
    for (const [limiter, charges] of asked)
      if (charges !== undefined) decisions.set(limiter, await limiter.preview(charges))
    return decisions
  }
  const { size, groups } = known.get(first) ?? { size: 0, groups: [] }
  const current = size === asked.size ? groups : groupsOf([...asked.keys()])
  known.set(first, { groups: current, size: asked.size })
  await Promise.all(current.map((group) => preview(group, asked, decisions)))
  return decisions
}

async function preview(
  { limiters, ledgers }: Group,
  asked: ReadonlyMap<StoreLimiter, readonly Charge[] | undefined>,
  decisions: Map<StoreLimiter, Decision>,
): Promise<void> {
  const key = limiters.map((each) => asked.get(each)?.[0]?.key).find((each) => each !== undefined)
  if (key === undefined) return
  const charges = limiters.flatMap((limiter) => {
    const { policies, ban } = limiter.counted
    // What can't be read keeps its place, so that a call has the same policies for every request.
    const own =
      asked.get(limiter) ??
      policies.map((policy): Charge => ({ key, limit: policy.anyLimit(), cost: 0 }))
    return ban === undefined ? own : [...own, { ...own[0], limit: ban.limit, cost: 0 } as Charge]
  })
  const [result] = (await ledgers.of(charges).decide([charges], true)) as [StoreResult]
  let from = 0
  for (const limiter of limiters) {
    const { policies, ban } = limiter.counted
    const to = from + policies.length + (ban === undefined ? 0 : 1)
    const own = asked.get(limiter)
    if (own !== undefined) {
      const [outcomes, origins] = [result.outcomes, result.origins].map((each) =>
        each?.slice(from, to),
      )
      decisions.set(
        limiter,
        toDecision({ ...result, outcomes, origins } as StoreResult, policies, own),
      )
    }
    from = to
  }
}

function groupsOf(limiters: readonly StoreLimiter[]): readonly Group[] {
  const groups: StoreLimiter[][] = []
  let work = Infinity
  for (const limiter of limiters) {
    const { policies, ban } = limiter.counted
    const own = workOf(policies.map((each) => ({ limit: each.anyLimit() }))) + (ban ? 1 : 0)
    work += own
    if (isTooMuch(work)) {
      groups.push([])
      work = own
    }
    groups.at(-1)?.push(limiter)
  }
  return groups.map((group) => {
    const counted = group.flatMap((limiter) => countedBy(limiter))
    return { limiters: group, ledgers: (group[0] as StoreLimiter).openTogether(counted) }
  })
}

/** The policies of a limiter in its own keyspaces, and its ban behind them. */
function countedBy({ counted: { policies, prefix, ban } }: StoreLimiter): readonly Counted[] {
  const own = policies.map((policy): Counted => {
    return {
      windowVaries: policy.windowVaries,
      keyspace: (limit) => ({ ...policy.keyspace(limit), prefix }),
      anyLimit: (window) => policy.anyLimit(window),
    }
  })
  return ban === undefined ? own : [...own, countedBan(ban)]
}

function countedBan(ban: BanKeyspace): Counted {
  const { limit } = ban
  return {
    windowVaries: false,
    keyspace: () => ban,
    anyLimit: () => limit,
  }
}
