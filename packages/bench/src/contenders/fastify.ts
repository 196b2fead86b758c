import { rateLimit as sluice } from '@sluice/fastify'
import fastify, { type FastifyInstance } from 'fastify'
import { AS_PEER, FLOOR_OF_DEFAULTS, FLOOR_OF_PEER, type HttpContenders } from './http.ts'
import { limiterFields } from './limiter-fields.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

// Its types declare the same members of Fastify's as ours do, with other types: so none are loaded.
const PEER: string = '@fastify/rate-limit'

async function serve(register?: (app: FastifyInstance) => unknown) {
  const app = fastify()
  await register?.(app)
  app.get('/', async () => BODY)
  await app.ready()
  return app.routing
}

const terms = { limit: LIMIT, window: WINDOW_MS }

const defaults = () => serve((app) => app.register(sluice, terms))

const asPeer = () => {
  const options = { ...terms, algorithm: 'fixed-window', headers: 'draft-3' } as const
  return serve((app) => app.register(sluice, options))
}

async function floor(like: ReturnType<typeof serve>) {
  const fields = await limiterFields(await like)
  return serve((app) =>
    app.addHook('onRequest', (_request, reply, done) => {
      for (const [name, value] of fields) reply.header(name, value)
      done()
    }),
  )
}

export const fastifyContenders: HttpContenders = {
  bare: () => serve(),
  sluice: defaults,
  [AS_PEER]: asPeer,
  '@fastify/rate-limit': async () => {
    const { default: rateLimit } = await import(PEER)
    const options = { max: LIMIT, timeWindow: WINDOW_MS, enableDraftSpec: true }
    return serve((app) => app.register(rateLimit, options))
  },
  [FLOOR_OF_PEER]: () => floor(asPeer()),
  [FLOOR_OF_DEFAULTS]: () => floor(defaults()),
}
