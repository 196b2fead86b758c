// Requests that a route has taken, and that become a 404 all the same.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import files from '@fastify/static'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type RateLimitOptions, rateLimit } from './index.ts'
import { statuses } from './testing.ts'

const LATE = { limit: 2, window: '1d', hook: 'preHandler' } as const
const lost = (_: FastifyRequest, reply: FastifyReply) => void reply.callNotFound()

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-static-'))
  await writeFile(join(folder, 'here.txt'), 'here')
})
afterAll(() => rm(folder, { recursive: true }))

async function limited(options: RateLimitOptions = LATE): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(rateLimit, options)
  return app
}

describe("hook: 'preHandler', which runs again for a 404", () => {
  test('a file that @fastify/static does not find is charged once', async () => {
    const app = await limited()
    await app.register(files, { root: folder, prefix: '/files/' })
    const asked = ['GET /files/none', 'GET /files/here.txt', 'GET /files/none']
    expect(await statuses(app, ...asked)).toEqual([404, 200, 429])
  })

  test('so is a request with callNotFound(), and its slot is taken once', async () => {
    const app = await limited({ concurrent: 1, hook: 'preHandler' })
    app.get('/lost', lost)
    expect(await statuses(app, 'GET /lost', 'GET /lost', 'GET /unknown')).toEqual([404, 404, 404])
  })

  test('the route decides, whether it has a limit of its own, another hook, or none', async () => {
    const app = await limited()
    app.get('/own', { config: { rateLimit: { limit: 1 } } }, lost)
    app.get('/early', { config: { rateLimit: { limit: 1, hook: 'onRequest' } } }, lost)
    app.get('/free', { config: { rateLimit: false } }, lost)
    for (const path of ['/own', '/early'])
      expect(await statuses(app, `GET ${path}`, `GET ${path}`)).toEqual([404, 429])
    expect(await statuses(app, 'GET /free', 'GET /free', 'GET /free')).toEqual([404, 404, 404])
    expect(await statuses(app, 'GET /x', 'GET /y', 'GET /z')).toEqual([404, 404, 429])
  })

  test('a refusal may be answered with a 404', async () => {
    const respond: RateLimitOptions['respond'] = (_decision, request, reply) => lost(request, reply)
    const app = await limited({ ...LATE, respond })
    app.get('/', async () => 'served')
    expect(await statuses(app, 'GET /', 'GET /', 'GET /')).toEqual([200, 200, 404])
  })
})

test('a hook that a route and the handler of unknown routes share counts once', async () => {
  const app = await limited({ limit: 9, window: '1d' })
  const preHandler = app.rateLimit.hook({ limit: 2 })
  app.setNotFoundHandler({ preHandler }, async (_, reply) => reply.code(404).send())
  app.get('/lost', { preHandler }, lost)
  expect(await statuses(app, 'GET /lost', 'GET /lost', 'GET /lost')).toEqual([404, 404, 429])
})
