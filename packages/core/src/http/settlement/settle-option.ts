import type { MaybePromise } from '../../maybe-promise.ts'

/** Returns the actual cost, an integer ≥ 0, or undefined to keep the estimate. */
export type SettleOption<Request, Response> = (
  request: Request,
  response: Response,
) => MaybePromise<number | undefined>
