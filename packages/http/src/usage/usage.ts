import type { Charge, Decision, Unit } from '@sluice/core'
import { type StoreLimiter, usedOf } from '@sluice/core/internal'
import type { Listed } from '../keys/access-list.ts'
import { CLIENT_GONE } from '../keys/key-reader.ts'
import type { HttpLimiter } from '../path/http-limiter.ts'
import { type FromBlocked, readRequest } from '../path/request-reading.ts'
import { previewAll } from './preview-all.ts'

/** A client's usage of one policy. */
export interface PolicyUsage {
  /** The name of the policy. */
  readonly policy: string
  /** The pattern of the route, if it limits only one. */
  readonly route?: string
  /** The unit it counts: the option `unit`, or `'concurrent-requests'`. */
  readonly unit: Unit
  /** Units that the client may use: its own limit and top-ups, if it has any. */
  readonly limit: number
  /** Units that it would have without its own limit and top-ups. Left out if they are the same. */
  readonly ordinaryLimit?: number
  /** Units in use, a debt included. Left out during a ban or a block: then nothing is left, whatever was used. */
  readonly used?: number
  /** Units that would still be admitted. */
  readonly remaining: number
  /** When the quota is full again, as an ISO date. */
  readonly resetsAt: string
  /** The length of the window, ms. Left out for `concurrent`. */
  readonly windowMs?: number
  /** True if it is a dry run, which refuses nothing. */
  readonly dryRun?: true
}

/** A client's usage of a route with its own limits. */
export interface RouteUsage {
  /** The pattern of the route. */
  readonly route: string
  /** As in `ClientUsage`, by the lists of this route. */
  readonly listed?: 'allow' | 'deny'
  /** As in `ClientUsage`, by the bans of this route. */
  readonly bannedUntil?: string
  /** False if its functions can't read the client from this request: its policies are missing. */
  readonly complete?: false
}

/** The usage of one client: the JSON of `usage()`. It contains no key. */
export interface ClientUsage {
  /** When it was read, as an ISO date, on the store's clock. */
  readonly at: string
  /** `'allow'`: it is never limited; `'deny'`: it is always refused. Left out if no list names it. */
  readonly listed?: 'allow' | 'deny'
  /** When its ban, or the block of its network, ends, as an ISO date. Left out if it has none. */
  readonly bannedUntil?: string
  /** Routes where `listed`, `bannedUntil` or `complete` differ. Left out if there are none. */
  readonly routes?: readonly RouteUsage[]
  /** False if the store did not answer: then policies are missing, or have what this process has counted. */
  readonly complete: boolean
  /** Each policy that concerns the client, in their order; then those of routes with their own limits. */
  readonly policies: readonly PolicyUsage[]
}

/**
 * Reads what the client of a request has used of each policy. It charges nothing, and ignores `skip`.
 * @param limiters all limiters of a middleware; the first one is for all routes
 * @returns undefined: the client has gone
 * @throws (a rejection) what a function of the options throws, but not those of a route
 */
export async function usageOf<Request, Response>(
  limiters: Iterable<HttpLimiter<Request, Response>>,
  request: Request,
): Promise<ClientUsage | undefined> {
  const [base, ...routes] = [...limiters] as [
    HttpLimiter<Request, Response>,
    ...HttpLimiter<Request, Response>[],
  ]
  // A route without a limit of its own counts with all others.
  const apart = routes.filter(({ scope }) => scope !== base.scope)
  const readings = await Promise.all([
    readingOf(base, request),
    // Their functions may need what only a request of their route has, such as a body.
    ...apart.map((each) => readingOf(each, request).catch((): 'unread' => 'unread')),
  ])
  const all = [base, ...apart]
  const asked = readings.map((reading, i) => {
    const { limiter } = all[i] as HttpLimiter<Request, Response>
    return [limiter, Array.isArray(reading) ? reading : undefined] as const
  })
  const decisions = await previewAll(new Map(asked))
  const [common, ...parts] = readings.map((reading, i) =>
    reading === 'unread'
      ? reading
      : partOf(all[i] as HttpLimiter<Request, Response>, reading, decisions),
  ) as [ClientUsage | undefined, ...(ClientUsage | undefined | 'unread')[]]
  if (common === undefined) return undefined
  const known = [common, ...parts.filter((each) => each !== undefined && each !== 'unread')]
  const others = parts.flatMap((part, i): RouteUsage[] => {
    const route = apart[i]?.compiled.route ?? ''
    if (part === 'unread') return [{ route, complete: false }]
    const { listed, bannedUntil } = part ?? {}
    const other = {
      ...(listed && listed !== common.listed && { listed }),
      // ISO dates are in the order of their text.
      ...(bannedUntil && bannedUntil > (common.bannedUntil ?? '') && { bannedUntil }),
    }
    return Object.keys(other).length === 0 ? [] : [{ route, ...other }]
  })
  const { listed, bannedUntil } = common
  return {
    at: latest(known.map(({ at }) => at)) as string,
    ...(listed && { listed }),
    ...(bannedUntil && { bannedUntil }),
    ...(others.length > 0 && { routes: others }),
    complete: known.every(({ complete }) => complete),
    policies: known.flatMap(({ policies }) => policies),
  }
}

/** What concerns the client of a request; undefined: nothing does, or it has gone. */
async function readingOf<Request, Response>(
  { compiled, limiter }: HttpLimiter<Request, Response>,
  request: Request,
): Promise<Charge[] | FromBlocked | Listed | undefined> {
  const { access } = compiled
  const rules = compiled.rules.map(({ varying: [limit, anchor, window], ...rule }) => {
    return { ...rule, cost: 0, varying: [limit, anchor, window] }
  })
  const asked = { ...compiled, rules, skip: undefined, chargesAll: access === undefined }
  const reading = await readRequest(asked, request, limiter.networks)
  if (reading === CLIENT_GONE || reading === 'skip' || reading === 'preflight') return undefined
  // A preview takes no slot.
  return Array.isArray(reading)
    ? reading.map((charge) => ({ ...charge, claim: undefined }))
    : reading
}

function partOf<Request, Response>(
  httpLimiter: HttpLimiter<Request, Response>,
  reading: Charge[] | FromBlocked | Listed | undefined,
  decisions: ReadonlyMap<StoreLimiter, Decision>,
): ClientUsage | undefined {
  if (reading === undefined) return undefined
  const { limiter } = httpLimiter
  if ('source' in reading)
    return { at: dateOf(Date.now()), listed: reading.source, complete: true, policies: [] }
  if ('blockedMs' in reading) {
    const { charges, blockedMs } = reading
    const decision = limiter.refuseNetwork(charges, blockedMs)
    const bannedUntil = decision.allowed ? undefined : decision.at + blockedMs
    return toUsage(httpLimiter, charges, decision, bannedUntil)
  }
  const decision = decisions.get(limiter) as Decision
  return toUsage(httpLimiter, reading, decision, decision.ban && decision.at + decision.ban.endsMs)
}

/** @param bannedUntil ms since the epoch; undefined: it is not banned */
function toUsage<Request, Response>(
  { compiled, limiter }: HttpLimiter<Request, Response>,
  charges: readonly Charge[],
  decision: Decision,
  bannedUntil: number | undefined,
): ClientUsage {
  const { dryRun, route } = compiled
  const policies = decision.policies.map((each, i): PolicyUsage => {
    const { name: policy, unit, limit, remaining, at, resetMs, windowMs } = each
    const ordinary = (charges[i] as Charge).limit.units
    return {
      policy,
      ...(route && { route }),
      unit,
      limit,
      ...(ordinary !== limit && { ordinaryLimit: ordinary }),
      ...(bannedUntil === undefined && { used: usedOf(each) }),
      remaining,
      resetsAt: dateOf(at + resetMs),
      ...(limiter.compiledPolicies[i]?.holdsSlots ? {} : { windowMs }),
      ...((dryRun || each.dryRun) && { dryRun: true }),
    }
  })
  const isAnswered = decision.policies.every(({ source }) => source !== 'local')
  return {
    at: dateOf(decision.at),
    ...(bannedUntil !== undefined && !dryRun && { bannedUntil: dateOf(bannedUntil) }),
    complete: isAnswered && policies.length > 0,
    policies,
  }
}

function latest(dates: readonly string[]): string | undefined {
  return [...dates].sort().at(-1)
}

/** The last moment that a date can have, ms since the epoch. */
const LAST_MS = 8.64e15

function dateOf(ms: number): string {
  return new Date(Math.min(ms, LAST_MS)).toISOString()
}
