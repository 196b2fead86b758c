import { estimateTokens } from '@sluice/budget'
import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, Request, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

/** The payer of a request, from data that the application has verified. */
export interface Payer {
  readonly key: string
  readonly user: string
  readonly team: string
  readonly organisation: string
  /** The budget of the organisation for a month, micro-dollars. */
  readonly budget: number
}

export function money(
  app: Express,
  store: Store,
  payerOf: (request: Request) => Payer,
  complete: RequestHandler,
): RateLimitHandler {
  /** Your price list: micro-dollars for a million tokens. */
  const prices = {
    small: { input: 150_000, output: 600_000 },
    large: { input: 3_000_000, output: 15_000_000 },
  }
  /** Micro-dollars, rounded up: what a request costs is never given away. */
  const priceOf = (model: keyof typeof prices, input: number, output: number) =>
    Math.ceil((input * prices[model].input + output * prices[model].output) / 1_000_000)

  const unit = 'micro-dollars'
  const budget = rateLimit({
    store,
    headers: false,
    deadline: '2s',
    onStoreError: 'deny',
    shard: (r) => payerOf(r).organisation,
    cost: ({ body }) => priceOf(body.model, estimateTokens(body.messages), body.max_tokens),
    settle: ({ body }, { locals }) =>
      locals.usage && priceOf(body.model, locals.usage.input, locals.usage.output),
    policies: [
      { name: 'key', unit, limit: 5_000_000, window: 'day', key: (r) => payerOf(r).key },
      { name: 'user', unit, limit: 50_000_000, window: 'month', key: (r) => payerOf(r).user },
      { name: 'team', unit, limit: 400_000_000, window: 'month', key: (r) => payerOf(r).team },
      {
        name: 'organisation',
        unit,
        limit: (r) => payerOf(r).budget,
        window: 'month',
        alertAt: [0.5, 0.8, 1],
        key: (r) => payerOf(r).organisation,
      },
    ],
  })
  app.post('/completions', budget, complete)
  return budget
}
