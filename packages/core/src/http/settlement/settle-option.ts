import type { MaybePromise } from '../../maybe-promise.ts'

/** Gives the actual cost, an integer ≥ 0, or undefined where the estimate is to stand. */
export type SettleOption<Request, Response> = (
  request: Request,
  response: Response,
) => MaybePromise<number | undefined>
