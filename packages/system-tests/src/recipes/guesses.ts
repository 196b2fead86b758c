import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'

type Store = RateLimitOptions['store']

export function guesses(app: Express, store: Store, login: RequestHandler): RateLimitHandler {
  // #region
  /** The account, however its name is written: as your database compares names. */
  const accountOf = ({ body }: Request) => String(body?.user).trim().toLowerCase()
  const wrong = (_: Request, { statusCode }: Response) => (statusCode === 401 ? 1 : 0)

  const guesses = rateLimit({
    store,
    prefix: 'login',
    policies: [
      { name: 'address', limit: 20, window: '15m', cost: 0, settle: wrong },
      { name: 'account', key: accountOf, limit: 10, window: '1h', settle: wrong },
    ],
  })
  app.post('/login', express.json(), guesses, login)
  // #endregion
  return guesses
}
