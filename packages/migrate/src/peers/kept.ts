import { callOf, type Imports, isTypeUse } from '../imports.ts'
import type { Peer } from './peer.ts'

/** Where calls wait until they may begin. */
const QUEUE =
  "createLimiter of @sluice/core takes its place: call limiter.wait('jobs') before each job, or limiter.acquire('jobs', { maxWait: '1m' }) if there is concurrent. Examples: https://sluicejs.github.io/sluice/migrating. Of its options,"

/** Packages that nothing here can take the place of line by line, and what to write instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  'express-slow-down':
    "Sluice delays only evenly, and refuses in the end: algorithm: 'leaky-bucket' with maxDelay lets requests pass one after another, as fast as limit and window say, and refuses one that would wait longer. This delays each request after the first delayAfter by delayMs more, and refuses nothing.",
  'express-brute':
    "The waiting time grows here with each request after freeRetries, and a success resets it. The closest of @sluice/express is rateLimit({ limit: freeRetries + 1, window: lifetime, ban: { after: 1, within: lifetime, for: ['5m', '15m', '1h'] } }), with the waiting times in for: it refuses with 429 and Retry-After, counts per key, and limiter.reset(key) takes the place of req.brute.reset. respond takes the place of failCallback.",
  bottleneck: `${QUEUE} maxConcurrent is concurrent, minTime is { limit: 1, window: minTime, algorithm: 'token-bucket' }, a reservoir is { limit, window }, priority is the option of wait. There are no retries.`,
  'p-throttle': `${QUEUE} interval is window.`,
  'p-limit': `${QUEUE} the number is concurrent.`,
  'p-queue': `${QUEUE} concurrency is concurrent, intervalCap is limit, interval is window, priority is the option of wait.`,
  'fastify-rate-limit':
    'This package is @fastify/rate-limit of before Fastify 4. Update it first, with the names of its options, or write @sluice/fastify: https://sluicejs.github.io/sluice/migrating has every name.',
}

/** The packages whose calls stay as they are, with a comment that says what to write. */
export const KEPT: readonly Peer[] = Object.entries(INSTEAD).map(([name, reason]) => ({
  name,
  migrate(imports: Imports) {
    const { source } = imports
    const uses = imports.uses.filter(({ path }) => !isTypeUse(path))
    const calls = uses.map((use) => callOf(use)?.call ?? use.path)
    for (const call of calls) {
      const isInner = calls.some((each) => each !== call && call.isDescendant(each))
      if (!isInner) source.migrate(call, () => source.leave(reason))
    }
  },
}))
