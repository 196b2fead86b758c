import type { Decision, ThresholdEvent } from '@sluice/core'
import type { RateLimitOptions, Routes } from '@sluice/http'
import { CALENDARS, type CalendarName } from './calendars.ts'
import { NAME } from './documents.ts'
import { costOf, type Exchange, type Reply, teamOf } from './exchange.ts'
import type { Plan, PlannedPolicy } from './plan.ts'

type Options = RateLimitOptions<Exchange, Reply>

/** What the application notices of its limiter. */
interface Noticed {
  threshold(event: ThresholdEvent): void
  decision(exchange: Exchange, decision: Decision): void
}

/**
 * The options of the application's limiter, as its code would have them.
 * @param policies the policies of this version of the application
 * @param routePlace which of them is that of the route that counts separately; undefined: there is none
 */
export function optionsOf(
  plan: Plan,
  policies: readonly PlannedPolicy[],
  routePlace: number | undefined,
  store: Options['store'],
  on: Noticed,
): Options & { routes?: Routes<Exchange, Reply> } {
  const { application, requests } = plan
  const { deadline, onStoreError, localShare, refusalCache, ban, routeBan, cluster } = application
  const { lists, goesOn, waits } = application
  const isPaidFor = requests.some(({ limit }) => limit !== undefined)
  const skips = requests.some(({ exempt }) => exempt === 'skip')
  const rules = policies.map((policy) => ({
    ...ruleOf(policy),
    ...varyingOf(policy, isPaidFor),
    ...(policy.level && { key: organisationOf }),
  }))
  const common = rules.slice(0, routePlace)
  const routes: Routes<Exchange, Reply> = {
    '/own': {
      policies: rules.slice(common.length) as Options['policies'] & object,
      ...(routeBan && { ban: routeBan }),
    },
    '/shared': { statusCode: 503 },
    '/free': false,
  }
  const options: Options = {
    store,
    deadline,
    onStoreError,
    localShare,
    headers: false,
    key: ({ planned }) => planned.client,
    cost: ({ planned }) => planned.cost,
    // A version without live policies has the same name: it is a part of what chooses the clients of a share.
    ...(application.policies.some(({ live }) => live) && { name: NAME }),
    onThreshold: on.threshold,
    onDecision: (decision, exchange) => on.decision(exchange as Exchange, decision),
    ...(refusalCache !== undefined && { refusalCache }),
    ...(ban && { ban }),
    ...(cluster?.sharded && { shard: organisationOf }),
    ...lists,
    ...(skips && { skip: ({ planned }) => planned.exempt === 'skip' }),
    ...(waits && {
      maxWait: waits.maxMs,
      maxWaiting: waits.most,
      priority: waits.priority === 'constant' ? 1 : ({ planned }) => planned.priority ?? 0,
    }),
    ...(goesOn === 'in a dry run' && { dryRun: true }),
    ...(goesOn === 'with its decision' && { respond: 'continue' }),
    policies: common as Options['policies'] & object,
  }
  return routePlace === undefined ? options : { ...options, routes }
}

/** A policy as the application writes it, without what depends on the request. */
function ruleOf({ level: _, isOfRoute: __, ...policy }: PlannedPolicy) {
  if ('hold' in policy) return policy
  const { settles, calendar, reserveMs: hold, windows: ___, anchors: ____, ...counted } = policy
  const { algorithm: _____, ...inDays } = counted
  return {
    ...(calendar === undefined ? counted : { ...inDays, ...CALENDARS[calendar].options }),
    ...(hold !== undefined && { reserve: true, hold }),
    ...(settles && { settle: costSoFar }),
  }
}

/** What of a policy depends on the request. @param isPaidFor whether its limit does */
function varyingOf(policy: PlannedPolicy, isPaidFor: boolean) {
  if ('hold' in policy) {
    const { concurrent } = policy
    return isPaidFor && { concurrent: ({ planned }: Exchange) => planned.limit ?? concurrent }
  }
  const { limit, window, windows, calendar, anchors } = policy
  const { options, other } = CALENDARS[calendar as CalendarName] ?? {}
  return {
    ...(isPaidFor && { limit: ({ planned }: Exchange) => planned.limit ?? limit }),
    ...(windows && {
      window: ({ planned: { window: own = 0 } }: Exchange) =>
        windows.includes(own) ? own : window,
    }),
    ...(anchors && {
      anchor: ({ planned }: Exchange) => (planned.otherAnchor ? other?.anchor : options?.anchor),
    }),
  }
}

const organisationOf = ({ planned }: Exchange) => teamOf(planned.client)

/** What a request costs, as far as it is known. */
function costSoFar({ planned, isEnded }: Exchange): number {
  return costOf(planned.actual, isEnded)
}

export function settlesOf(policy: PlannedPolicy): boolean {
  return policy.settles === true
}

/** Whether what is charged in the end must be what requests have cost: no fault has kept a settlement away. */
export function isSettledExactly({ application, faults }: Plan): boolean {
  return faults.length === 0 && application.policies.some(settlesOf)
}

export function shareOfUnits(units: number, share: number): number {
  return Math.max(1, Math.floor(units * share))
}

/** What a process alone has of a policy. @param share above 0, up to 1 */
export function shareOf(policy: PlannedPolicy, share: number): PlannedPolicy {
  const units = (all: number) => shareOfUnits(all, share)
  if ('hold' in policy) return { ...policy, concurrent: units(policy.concurrent) }
  const { burst } = policy
  const own = burst === undefined ? {} : { burst: units(burst) }
  return { ...policy, ...own, limit: units(policy.limit) }
}
