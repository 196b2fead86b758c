import type { Attributes } from '@opentelemetry/api'
import type { LimiterEvent } from '@sluice/core'

/** The names of all attributes. */
export const ATTRIBUTES = {
  policy: 'rate_limiting.policy',
  result: 'rate_limiting.result',
  source: 'rate_limiting.source',
  route: 'http.route',
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
