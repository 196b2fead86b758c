import type { Charge, Decision, MaybePromise } from '@sluice/core'

/** A decision about a request that may have waited for it, or has to wait for its turn. */
export interface Waited {
  readonly decision: Decision
  /** Whether the time of the decision is over long before it is known: the request has waited for it. */
  readonly hasWaited?: boolean
  /** The key that has taken a turn for the request, for which it waits. */
  readonly turn?: string | undefined
}

/**
 * How a limiter decides requests that may wait. One that never waits needs none.
 *
 * @param route the route that traces name
 * @returns undefined if the client has gone meanwhile; then nothing is charged
 */
export type WaitingStrategy<Request, Response> = (
  charges: readonly Charge[],
  request: Request,
  response: Response,
  route: string | undefined,
) => MaybePromise<Waited | undefined>
