import { rateLimit as sluice } from '@sluice/fastify'
import fastify, { type FastifyInstance } from 'fastify'
import { AS_PEER, type HttpContenders } from './http.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

// Its types declare the same members of Fastify's as ours do, with other types: so none are loaded.
const PEER: string = '@fastify/rate-limit'

async function serve(app: FastifyInstance) {
  app.get('/', async () => BODY)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

export const fastifyContenders: HttpContenders = {
  bare: () => serve(fastify()),

  sluice: async (store) => {
    const app = fastify()
    await app.register(sluice, { limit: LIMIT, window: WINDOW_MS, ...(store && { store }) })
    return serve(app)
  },

  [AS_PEER]: async () => {
    const app = fastify()
    const terms = { limit: LIMIT, window: WINDOW_MS, algorithm: 'fixed-window' } as const
    await app.register(sluice, { ...terms, headers: 'draft-3' })
    return serve(app)
  },

  '@fastify/rate-limit': async (redis) => {
    const app = fastify()
    const { default: rateLimit } = await import(PEER)
    const terms = { max: LIMIT, timeWindow: WINDOW_MS, enableDraftSpec: true }
    await app.register(rateLimit, { ...terms, ...(redis && { redis }) })
    return serve(app)
  },
}
