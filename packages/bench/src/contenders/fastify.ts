import { rateLimit as sluice } from '@sluice/fastify'
import fastify, { type FastifyInstance } from 'fastify'
import { contendersOf } from './http.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

// Its types declare the same members of Fastify's as ours do, with other types: so none are loaded.
const PEER: string = '@fastify/rate-limit'

const options = { max: LIMIT, timeWindow: WINDOW_MS, enableDraftSpec: true }

export const fastifyContenders = contendersOf<(app: FastifyInstance) => unknown>({
  async serve(register) {
    const app = fastify()
    await register?.(app)
    app.get('/', async () => BODY)
    await app.ready()
    return app.routing
  },
  sluice: (terms) => (app) => app.register(sluice, terms),
  headers: 'draft-3',
  constant: (fields) => (app) =>
    app.addHook('onRequest', (_request, reply, done) => {
      for (const [name, value] of fields) reply.header(name, value)
      done()
    }),
  peers: {
    '@fastify/rate-limit': () => async (app) => app.register((await import(PEER)).default, options),
  },
})
