/** What behaves differently here, as the comments say it. One sentence or two, each for a reader of the file. */
export const DIFFERENCES = {
  window: (peer: string) =>
    `the window slides, and refused requests are not counted. ${peer} counts in a window that begins with a client's first request; algorithm: 'sliding-log' behaves most like it.`,
  log: "the window slides. On Redis, koa-ratelimit keeps a log of requests and counts refused ones too; algorithm: 'sliding-log' behaves most like it, and refused requests are not counted.",
  resetTime: 'resetMs takes the place of resetTime: ms from now, not a date.',
  settle:
    'a request is counted first and given back when its response has ended. With cost: 0 it is counted only then.',
  passOnStoreError:
    "with its default, 'local', onStoreError keeps limiting in this process while the store fails.",
  storeErrors:
    'while Redis fails, this process goes on counting (onStoreError). No error reaches your error handler.',
  trustProxy:
    'trusting every proxy, this setting lets every client choose its address, and so its quota. Name your proxies or give their number.',
  legacyUnits: 'the reset fields count seconds from now.',
  fastifyHook:
    "the hook runs where the plugin is registered, not behind all other hooks of the same kind. If a function reads what a later hook sets, as the user for key: 'user', register the plugin after it or set hook: 'preHandler'.",
  fastifyHead: 'HEAD shares the quota of GET on the same URL.',
  fastifyRoutes:
    'a route that sets no limit or window of its own shares the quota of the other routes.',
  fastifyGlobal:
    'global: false is a skip function here: only routes with config.rateLimit are limited. Unknown routes are not.',
  nestShared:
    'all handlers share this quota; in @nestjs/throttler each handler counts separately. To count them separately, set @RateLimit({ limit, window }) on each controller.',
  nestReplaces:
    "a handler's options replace the module's as a whole: list every policy that should apply to it.",
  nestHead: 'HEAD shares the quota of GET.',
  insurance:
    "onStoreError: 'local' (the default) takes the place of insuranceLimiter: while the store fails, this process counts with the same limit; localShare gives it a part of that.",
  refusal: 'a refusal is a decision with allowed: false. consume rejects only for wrong arguments.',
} as const

/** A store that Sluice does not have. */
export function noStore(name: string): string {
  const instead = /postgres/i.test(name)
    ? 'pass store: postgresStore(pool) of @sluice/postgres'
    : 'pass a client of Redis or Valkey, postgresStore(pool) of @sluice/postgres, or a store of your own'
  return `there is no ${name} here, so these counts stay in this process. To share them between processes, ${instead}.`
}
