// The framework of the README of @sluice/test-suites, as far as its example needs it.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Decision } from '@sluice/core'

export interface Request extends IncomingMessage {
  user?: unknown
  rateLimit?: Decision
}

export interface Response extends ServerResponse {
  set(fields: object): this
  status(code: number): this
  send(body?: unknown): this
}

type Handler = (request: Request, response: Response, next: () => void) => unknown

export declare function framework(options: { trustProxy: unknown }): RequestListener & {
  use(handler: Handler): void
  all(path: string, handler: Handler): void
  onError(handler: (error: unknown, request: Request, response: Response) => unknown): void
}
