import type { Framework } from '@sluice/core'
import type { Request } from 'express'

/** Where Express keeps the facts of a request. */
export const express: Framework<Request> = {
  // A getter that walks X-Forwarded-For by the setting 'trust proxy'; undefined once the client is gone.
  address: (request) => request.ip,
  user: (request) => (request as { user?: unknown }).user,
  header: (request, name) => request.headers[name] as string | undefined,
  method: (request) => request.method,
}
