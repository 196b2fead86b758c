/** The texts of comments about differences. One sentence or two, each for a reader of the file. */
export const DIFFERENCES = {
  /** @param isLog whether the algorithm is written out */
  window: (peer: string, isLog: boolean) =>
    `the window slides, and refused requests are not counted. ${peer} counts in a window that begins with a client's first request${isLog ? '.' : "; algorithm: 'sliding-log' behaves most like it."}`,
  /** @param isLog whether the algorithm is written out */
  log: (isLog: boolean) =>
    `refused requests are not counted. On Redis, koa-ratelimit counts them too, in a log${isLog ? '.' : "; algorithm: 'sliding-log' behaves most like it."}`,
  retryAfter:
    'Retry-After, and the reset beside it, is up to a tenth longer, at random (retryAfterJitter).',
  retryAfterAlone: 'a refusal has Retry-After, also where headers is false.',
  body: 'the body of a refusal is problem+json; respond sends another.',
  sharedPrefix:
    'limiters on one store share their counts there unless they have prefixes of their own. This one counts by itself, under its prefix. To share counts, give limiters the same prefix, limit and window.',
  resetTime: 'resetMs takes the place of resetTime: ms from now, not a date.',
  info: 'request.rateLimit is a decision here: limit, remaining, resetMs from now. It has no used, current or resetTime.',
  used: 'used: refused requests are not counted here, so it never exceeds limit, and used === limit + 1 is never true. For once in each window, when a client has used its limit, write alertAt: [1] and onThreshold: (event) => ….',
  infoType: '@sluice/express declares request.rateLimit as a decision: remove this declaration.',
  draft8:
    'in RateLimit and RateLimit-Policy the policy is named default, not by its numbers, and there is no pk: policies have names of their own, and partitionSecret adds pk.',
  settle:
    'a request is counted first and given back when its response has ended. With cost: 0 it is counted only then.',
  passOnStoreError:
    "with its default, 'local', onStoreError keeps limiting in this process while the store fails.",
  closed:
    "while the store fails, onStoreError: 'deny' refuses with 503, where a store error went to your error handler. With the default, 'local', this process goes on counting.",
  storeErrors:
    'while Redis fails, this process goes on counting (onStoreError). No error reaches your error handler.',
  trustProxy:
    'trusting every proxy, this setting lets every client choose its address, and so its quota. Name your proxies or give their number.',
  fastifyPrefix:
    'registrations on one store share their counts there unless they have a nameSpace. Here each counts by itself: the second one under sluice.2. A prefix keeps the counts of several applications apart.',
  fastifyHook:
    "the hook runs where the plugin is registered, not behind all other hooks of the same kind. If a function reads what a later hook sets, as the user for key: 'user', register the plugin after it or set hook: 'preHandler'.",
  fastifyUnknown:
    'requests of unknown routes (404) are limited too; in @fastify/rate-limit they are not.',
  fastifyRoute:
    'HEAD shares the quota of GET on the same URL. If the file that registers the plugin stays as it is, so must these options.',
  fastifyBody:
    "the body of a refusal is problem+json, which is sent at once. respond sends another; respond: 'throw' hands it to the error handler.",
  fastifyBan: 'a banned client gets 429, not 403, until the ban ends.',
  fastifyGlobal:
    'global: false is a skip function here: only routes with config.rateLimit are limited. Unknown routes are not.',
  nestGuard:
    'RateLimitGuard takes the place of ThrottlerGuard, in whichever file that is used: rewrite them together.',
  nestShared:
    'all handlers share this quota; in @nestjs/throttler each handler counts separately. To count them separately, set @RateLimit({ limit, window }) on each controller.',
  nestFields:
    'a refusal has the X-RateLimit fields too; in @nestjs/throttler it has Retry-After alone.',
  nestSkip:
    'this exempts from every policy; in @nestjs/throttler only from the one that is named default.',
  nestNames:
    'the header fields have no names of policies in their own names: X-RateLimit-Limit, not X-RateLimit-Limit-short.',
  nestTogether:
    'the file that has the module has to be rewritten too. If it stays as it is, so must this: without it, nothing limits here.',
  nestReplaces:
    "a handler's options replace the module's as a whole: list every policy that should apply to it.",
  insurance:
    "onStoreError: 'local' (the default) takes the place of insuranceLimiter: while the store fails, this process counts with the same limit; localShare gives it a part of that.",
  /** The difference while the store fails, by the code that catches the rejection of `consume`. */
  atFailure: {
    refuses:
      "while the store fails, this code refused every request, so onStoreError is 'deny'. With the default, 'local', this process goes on counting.",
    fails:
      "while the store fails, this code answered with an error, so onStoreError is 'deny': it refuses. With the default, 'local', this process goes on counting.",
    handles:
      "while the store fails, this process goes on counting (onStoreError: 'local'), and no error is caught here. With 'deny' it refuses every request.",
  },
  upstash:
    'a refusal costs nothing here, and resetMs is when the whole limit is available again; retryAfterMs is when a refused request can be repeated. There are no analytics.',
  upstashFailure:
    'while Redis fails, this process goes on counting (onStoreError). @upstash/ratelimit rejects, or admits everything after its timeout.',
  refusal:
    'a refusal is a decision with allowed: false. consume rejects only for wrong arguments, such as an empty key.',
} as const

/** Why a limiter stays whose store Sluice does not have. */
export function noStore(name: string): string {
  const instead = /postgres/i.test(name)
    ? 'postgresStore(pool) of @sluice/postgres'
    : 'a client of Redis or Valkey, postgresStore(pool) of @sluice/postgres, or a store of your own'
  return `There is no ${name} here. Sluice takes ${instead}.`
}
