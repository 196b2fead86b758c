import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How a simulated provider limits, and what it says about it. */
export interface ProviderKind {
  readonly name: string
  /** How it counts. */
  readonly counts: 'fixed window' | 'token bucket' | 'sliding log'
  /** Units per window, and its length, ms. */
  readonly limit: number
  readonly windowMs: number
  /** How far its clock is off, ms. */
  readonly skewMs: number
  /** `late`: what was left half a second before. `lying`: ten times what is left. */
  readonly fields: 'true' | 'late' | 'missing' | 'lying'
}

/** A request as the provider has seen it. Times are ms from the start of the run. */
export interface Seen {
  readonly at: number
  readonly status: number
  readonly process: string
}

/** The wait of the one refusal that has no reason, s. */
export const SURPRISE_SECONDS = 3
/** How late fields are that are late, ms. */
const LATE_MS = 500
/** How long an answer takes, at least and at most, ms. */
const LATENCY_MS = [10, 40] as const

/** Says whether a request is admitted, what is left, and until when it is about, ms. */
interface Count {
  take(now: number): { admitted: boolean; remaining: number; resetMs: number; waitMs: number }
}

function fixedWindow({ limit, windowMs }: ProviderKind): Count {
  let window = 0
  let used = 0
  return {
    take(now) {
      const current = Math.floor(now / windowMs)
      if (current !== window) [window, used] = [current, 0]
      const admitted = used < limit
      if (admitted) used += 1
      const resetMs = windowMs - (now % windowMs)
      return { admitted, remaining: limit - used, resetMs, waitMs: resetMs }
    },
  }
}

function tokenBucket({ limit, windowMs }: ProviderKind): Count {
  const perMs = limit / windowMs
  // A quarter of the window's units at once.
  const capacity = limit / 4
  let left = capacity
  let last = 0
  return {
    take(now) {
      left = Math.min(capacity, left + (now - last) * perMs)
      last = now
      const admitted = left >= 1
      if (admitted) left -= 1
      const resetMs = (capacity - left) / perMs
      return { admitted, remaining: Math.floor(left), resetMs, waitMs: (1 - left) / perMs }
    },
  }
}

function slidingLog({ limit, windowMs }: ProviderKind): Count {
  const log: number[] = []
  return {
    take(now) {
      while (log.length > 0 && (log[0] as number) <= now - windowMs) log.shift()
      const admitted = log.length < limit
      if (admitted) log.push(now)
      const resetMs = (log[0] as number) + windowMs - now
      return { admitted, remaining: limit - log.length, resetMs, waitMs: resetMs }
    },
  }
}

const COUNTS = {
  'fixed window': fixedWindow,
  'token bucket': tokenBucket,
  'sliding log': slidingLog,
}

/** The fields of each kind, as providers of that kind have them. */
function fieldsOf(kind: ProviderKind, remaining: number, resetMs: number, now: number) {
  if (kind.counts === 'fixed window')
    return {
      'X-RateLimit-Limit': kind.limit,
      'X-RateLimit-Remaining': remaining,
      'X-RateLimit-Reset': Math.ceil((now + resetMs) / 1000),
    }
  if (kind.counts === 'token bucket')
    return {
      'X-RateLimit-Limit-Requests': kind.limit / 4,
      'X-RateLimit-Remaining-Requests': remaining,
      'X-RateLimit-Reset-Requests': `${Math.ceil(resetMs)}ms`,
    }
  return {
    'RateLimit-Policy': `"default";q=${kind.limit};w=${Math.ceil(kind.windowMs / 1000)}`,
    RateLimit: `"default";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  }
}

/** Starts a provider on a free port of loopback. */
export async function startProvider(kind: ProviderKind) {
  const count = COUNTS[kind.counts](kind)
  const seen: Seen[] = []
  const said: { at: number; remaining: number; resetMs: number }[] = []
  const start = performance.now()
  let surprise: number | undefined
  let surprised: number | undefined

  const answer = (response: ServerResponse, status: number, fields: object) => {
    const now = Date.now() + kind.skewMs
    const [least, most] = LATENCY_MS
    setTimeout(
      () => {
        for (const [name, value] of Object.entries(fields)) response.setHeader(name, `${value}`)
        response.setHeader('Date', new Date(now).toUTCString())
        response.writeHead(status).end('{}')
      },
      least + Math.random() * (most - least),
    )
  }

  const server = createServer((request, response) => {
    const at = performance.now() - start
    const process = `${request.headers['x-process']}`
    const now = Date.now() + kind.skewMs
    if (surprise !== undefined && at >= surprise) {
      surprise = undefined
      surprised = at
      seen.push({ at, status: 429, process })
      return answer(response, 429, { 'Retry-After': SURPRISE_SECONDS })
    }
    const { admitted, remaining, resetMs, waitMs } = count.take(now)
    said.push({ at, remaining, resetMs })
    while (said.length > 1 && (said[1] as { at: number }).at <= at - LATE_MS) said.shift()
    const old = said[0] as (typeof said)[number]
    const left = { true: remaining, late: old.remaining, missing: 0, lying: remaining * 10 }
    const reset = kind.fields === 'late' ? old.resetMs : resetMs
    const fields = kind.fields === 'missing' ? {} : fieldsOf(kind, left[kind.fields], reset, now)
    const retry = admitted ? {} : { 'Retry-After': Math.ceil(waitMs / 1000) }
    const status = admitted ? 200 : 429
    seen.push({ at, status, process })
    answer(response, status, { ...fields, ...retry })
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
