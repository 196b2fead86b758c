import { expect, test } from '@jest/globals'
import fastify from 'fastify'
import { type Decision, type RateLimitConfig, type RateLimitOptions, rateLimit } from './index.ts'
import { statuses } from './testing.ts'

test('hooks have the types of any server', async () => {
  const options = { limit: 9, window: '1m' } as const
  const http2 = fastify({ http2: true })
  await http2.register(rateLimit, options)
  const hook = http2.rateLimit.hook({ limit: 5 })
  http2.addHook('preValidation', hook)
  http2.setNotFoundHandler({ preHandler: hook }, async (_, reply) => reply.code(404).send())
  const config = { rateLimit: { ...options, key: ({ id }: { id: string }) => id } }
  http2.get(
    '/',
    { config, onRequest: hook, preHandler: [hook] },
    async ({ rateLimit }) => rateLimit,
  )
  http2.post<{ Body: { id: number } }>('/', { preHandler: hook }, async ({ body }) => body.id)
  await http2.close()

  const https = fastify({ https: {} })
  await https.register(rateLimit, options)
  https.get('/', { preHandler: https.rateLimit.hook() }, async () => 'hello')
  await https.close()
  const secure = fastify({ http2: true, https: {} })
  await secure.register(rateLimit, options)
  secure.get('/', { preHandler: [secure.rateLimit.hook()] }, async () => 'hello')
  await secure.close()
})

/** Checked by the compiler: each expected error must be one. */
test('the types of Fastify know the plugin', async () => {
  const app = fastify()
  const options: RateLimitOptions = { limit: 1, window: '1m', hook: 'preHandler' }
  await app.register(rateLimit, options)
  await app.register(rateLimit, {
    policies: [
      { name: 'burst', limit: async ({ headers }) => Number(headers.tier ?? 9), window: '1s' },
    ],
    key: ({ params }) => (params as { id?: string }).id,
    respond: (_, request, reply) => reply.header('X-Url', request.url).send(),
  })
  // @ts-expect-error A limit in quotes.
  const quoted: RateLimitOptions = { limit: '1', window: '1m' }
  // @ts-expect-error A misspelt option.
  const misspelt: RateLimitOptions = { limit: 1, window: '1m', prefixes: 'a' }
  const variable = { limit: 9, window: '1m', hook: 'preHandler' } as const
  await app.register(rateLimit, variable)
  const config = { limit: 9, window: '1m', algorithm: 'fixed-window' }
  await app.register(rateLimit, config as RateLimitConfig)
  // @ts-expect-error Text of a configuration.
  const untyped = () => app.register(rateLimit, config)
  const route = { config: { rateLimit: variable } }
  app.get('/variable', route, async () => 'hello')
  const exempt = { config: { rateLimit: false } } as const
  app.get('/exempt', exempt, async () => 'hello')

  app.get('/', { config: { rateLimit: { limit: 2, window: '1m' } } }, async (request) => {
    const decision: Decision | undefined = request.rateLimit
    // @ts-expect-error It is undefined where the route is exempt.
    const certain: Decision = request.rateLimit
    return { remaining: decision?.remaining, same: certain === decision }
  })
  app.get('/free', { config: { rateLimit: false } }, async () => {
    const { allowed } = await app.rateLimit.peek('127.0.0.1')
    return { allowed }
  })
  // @ts-expect-error A limit in quotes.
  const wrong = () => app.get('/wrong', { config: { rateLimit: { limit: '2' } } }, async () => 1)

  expect([quoted, misspelt, wrong, untyped]).toHaveLength(4)
  expect(await statuses(app, 'GET /', 'GET /free')).toEqual([200, 200])
})
