// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import byDefault, { rateLimit } from '@sluice/fastify'
import shedLoad from '@sluice/fastify/overload'
import { type FastifyInstance, fastify } from 'fastify'

export async function build(): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(rateLimit, { limit: 2, window: '1m', key: ({ ip }) => ip })
  await app.register(byDefault, { limit: 9, window: '1m' })
  await app.register(import('@sluice/fastify'), { limit: 9, window: '1m' })
  // @ts-expect-error The default is not any either.
  await app.register(byDefault, { limit: '2', window: '1m' })
  await app.register(shedLoad)
  // @ts-expect-error A limit in quotes is an error: the types are not any.
  app.get('/wrong', { config: { rateLimit: { limit: '2' } } }, async () => '')
  app.get('/', { config: { rateLimit: { cost: 2 } } }, async (request) => {
    const { remaining } = await app.rateLimit.peek(request.ip)
    return { remaining, limit: request.rateLimit?.limit }
  })
  return app
}
