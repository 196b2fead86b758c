import type { Attributes } from '@opentelemetry/api'
import type { LimiterEvent } from '@sluice/core'

/** The names of all attributes. `npm run generate` writes docs/metrics.md from their comments. */
export const ATTRIBUTES = {
  /**
   * The name of the binding policy, after the option `name` of the limiter if it has one:
   * `api/burst`.
   */
  policy: 'rate_limiting.policy',
  /**
   * `admitted`, `refused`, `would_refuse` (in a dry run) or `skipped`; of units `charged` or
   * `settled`; of `shedLoad` `admitted` or `shed`.
   */
  result: 'rate_limiting.result',
  /**
   * The name by which documents and commands know a live policy, with the route that it is for:
   * `api/burst`, `api:POST /login`.
   */
  livePolicy: 'rate_limiting.live_policy',
  /**
   * The source of the decision: `store`, `cache`, `lease`, `local`, `allow`, `deny`; or `list`, `skip`, `preflight`. Of the
   * limit of a live policy `document` or `code`.
   */
  source: 'rate_limiting.source',
  /** The share of the limit that was reached, as the option `alertAt` has it: `0.8`. */
  threshold: 'rate_limiting.threshold',
  /** The class of a request, as the option `classes` of `shedLoad` names it. */
  class: 'rate_limiting.class',
  /** Why `shedLoad` sheds: `latency`, `event-loop-utilization`, `event-loop-delay` or `heap`. */
  signal: 'rate_limiting.signal',
  /** The pattern of the route, where it is known. */
  route: 'http.route',
  /** If the store failed: the code or the name of its error, `_OTHER` if it is not known yet. */
  errorType: 'error.type',
} as const

/**
 * Where something happened: the policy, after the name of the limiter if it has one, and the route.
 * Both come from the application, so that there are only so many.
 */
export function placeOf(
  { limiter, route }: LimiterEvent,
  policy: string | undefined,
  others: Attributes = {},
): Attributes {
  const attributes: Attributes = { ...others }
  const name = policy ?? limiter
  if (name !== undefined)
    attributes[ATTRIBUTES.policy] =
      policy === undefined || limiter === undefined ? name : `${limiter}/${policy}`
  if (route !== undefined) attributes[ATTRIBUTES.route] = route
  return attributes
}
