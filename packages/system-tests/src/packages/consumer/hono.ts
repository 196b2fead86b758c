// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import byDefault, { decisionOf, limitFetch, RateLimitError, rateLimit } from '@sluice/hono'
import shedLoad from '@sluice/hono/overload'
import { Hono } from 'hono'

const limit = rateLimit({ limit: 2, window: '1m', key: (c) => c.req.header('x-api-key') })

// @ts-expect-error A limit in quotes is an error: the types are not any.
rateLimit({ limit: '2', window: '1m', address: () => undefined })

export const app = new Hono().use(limit).get('/', async (c) => {
  const { remaining } = await limit.limiter.peek('203.0.113.7')
  // @ts-expect-error It is a Decision, not any.
  c.var.rateLimit?.limits
  return c.json({ remaining, limit: c.var.rateLimit?.limit })
})

interface Server {
  requestIP(request: Request): { address: string } | null
}
export const handler = limitFetch(
  { limit: 2, window: '1m', address: (request, server) => server.requestIP(request)?.address },
  (request: Request, _: Server) => new Response(`${decisionOf(request)?.remaining}`),
)

/** A request as Next.js has it: with more than a Request has. */
declare class NextRequest extends Request {
  readonly nextUrl: { readonly pathname: string }
}
export const GET: (
  request: NextRequest,
  context: { params: Promise<{ id: string }> },
) => Promise<Response> = limitFetch(
  { limit: 2, window: '1m', key: (request) => request.nextUrl.pathname },
  async (request: NextRequest, { params }: { params: Promise<{ id: string }> }) =>
    new Response(request.nextUrl.pathname + (await params).id),
)

export const isRefusal = (error: unknown): boolean => error instanceof RateLimitError

export const defaults: readonly [typeof rateLimit, ReturnType<typeof shedLoad>] = [
  byDefault,
  shedLoad(),
]
// @ts-expect-error The default is not any either.
byDefault({ limit: '2', window: '1m' })
