import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the provider has seen it. */
export interface Seen {
  /** ms from the start of the run. */
  readonly at: number
  readonly status: number
}

/** The wait of the one refusal that has no reason, s. */
export const SURPRISE_SECONDS = 3
/** How long an answer takes, at least and at most, ms. */
const LATENCY_MS = [10, 40] as const

/** Sends an answer after a while. */
function answer(response: ServerResponse, status: number, fields: Record<string, number>): void {
  const [least, most] = LATENCY_MS
  setTimeout(
    () => {
      for (const [name, value] of Object.entries(fields)) response.setHeader(name, `${value}`)
      response.writeHead(status).end('{}')
    },
    least + Math.random() * (most - least),
  )
}

/** Starts a provider on a free port of loopback: it counts in windows of its clock, and says what is left. */
export async function startProvider(limit: number, windowMs: number) {
  const seen: Seen[] = []
  const start = performance.now()
  let surprise: number | undefined
  let surprised: number | undefined
  let window = 0
  let used = 0

  const server = createServer((_, response) => {
    const at = performance.now() - start
    if (surprise !== undefined && at >= surprise) {
      surprise = undefined
      surprised = at
      seen.push({ at, status: 429 })
      return answer(response, 429, { 'Retry-After': SURPRISE_SECONDS })
    }
    const now = Date.now()
    const current = Math.floor(now / windowMs)
    if (current !== window) [window, used] = [current, 0]
    const admitted = used < limit
    if (admitted) used += 1
    const end = (current + 1) * windowMs
    const status = admitted ? 200 : 429
    seen.push({ at, status })
    answer(response, status, {
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': limit - used,
      'X-RateLimit-Reset': Math.ceil(end / 1000),
      ...(!admitted && { 'Retry-After': Math.ceil((end - now) / 1000) }),
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    seen,
    now: () => performance.now() - start,
    /** Refuses the first request from this time on without a reason. */
    surpriseAt: (at: number) => {
      surprise = at
    },
    surprisedAt: () => surprised,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
