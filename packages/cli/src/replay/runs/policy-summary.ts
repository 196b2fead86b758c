import type { Policy } from '@sluice/core/store'

/** The part of a report about one policy. */
export interface PolicySummary {
  readonly name: string
  readonly algorithm: string
  /** Undefined: a function of the request. */
  readonly limit: number | undefined
  /** Undefined: a function of the request, or none, since requests in progress are counted. */
  readonly windowMs: number | undefined
  readonly burst?: number
  /** Where admitted requests wait for their turn: how long at most. */
  readonly maxDelayMs?: number
  /** The share of the clients that it refuses, if that is not 1. */
  readonly enforced?: number
}

/** @param name the policy's name in the report */
export function summaryOf(policy: Policy, name: string = policy.name): PolicySummary {
  const { algorithm, limit, params, enforced } = policy
  const windowMs = policy.holdsSlots || policy.windowVaries ? undefined : policy.windowMs
  const { options } = algorithm
  const burst = params.burst ?? defaultOf(options.burst, limit)
  const maxDelayMs = params.maxDelayMs ?? defaultOf(options.maxDelay, limit)
  return {
    name,
    algorithm: algorithm.name,
    limit,
    windowMs,
    ...(burst !== undefined && { burst }),
    ...(maxDelayMs !== undefined && { maxDelayMs }),
    ...(enforced < 1 && { enforced }),
  }
}

function defaultOf(value: number | 'limit' | undefined, limit: number | undefined) {
  return value === 'limit' ? limit : value
}
