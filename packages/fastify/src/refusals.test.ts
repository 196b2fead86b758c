import { describe, expect, jest, test } from '@jest/globals'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { RateLimitError, type RateLimitOptions, rateLimit } from './index.ts'
import { listen, portOf } from './testing.ts'

const NEVER = { limit: 0, window: '1m', retryAfterJitter: 0 } as const
const FIELDS = { 'retry-after': '60', ratelimit: '"default";r=0;t=60' }

type Respond = NonNullable<RateLimitOptions['respond']>

/** The warnings of Fastify, such as those of a second reply. */
const logged: string[] = []

/** @param prepare called before the routes are added, when Fastify wants its error handlers to be set */
async function refusing(
  respond?: Respond,
  prepare: (app: FastifyInstance) => void = () => {},
): Promise<FastifyInstance> {
  const write = (line: string) => logged.push(line)
  const app = fastify({ logger: { level: 'warn', stream: { write } } })
  prepare(app)
  await app.register(rateLimit, { ...NEVER, respond })
  app.get('/', async () => 'served')
  return app
}

test('the default refusal is what the core wrote: Fastify adds nothing to it', async () => {
  const app = await refusing()
  await listen(app)
  const response = await fetch(`http://127.0.0.1:${portOf(app)}/`)
  expect(response.status).toBe(429)
  expect([...response.headers.keys()]).toEqual([
    'cache-control',
    'connection',
    'content-length',
    'content-type',
    'date',
    'keep-alive',
    'ratelimit',
    'ratelimit-limit',
    'ratelimit-policy',
    'ratelimit-remaining',
    'ratelimit-reset',
    'retry-after',
  ])
  expect(response.headers.get('Content-Type')).toBe('application/problem+json')
  expect(await response.json()).toMatchObject({ title: 'Quota Exceeded', status: 429 })
})

describe("respond: 'throw'", () => {
  test('gives the error to the handler of the application', async () => {
    const errors: unknown[] = []
    const app = await refusing('throw', (app) =>
      app.setErrorHandler(async (error, request, reply) => {
        errors.push(error, request.rateLimit)
        if (!(error instanceof RateLimitError)) throw error
        return reply.code(error.statusCode).send({ slow: error.decision.policies[0]?.name })
      }),
    )
    const reply = await (await listen(app))('GET /')
    expect([reply.status, reply.body]).toEqual([429, '{"slow":"default"}'])
    expect(reply.limitFields()).toMatchObject(FIELDS)
    expect(reply.field('Cache-Control')).toBe('no-store')
    expect(errors).toEqual([
      expect.objectContaining({ code: 'SLUICE_REFUSED', statusCode: 429 }),
      expect.objectContaining({ allowed: false }),
    ])
  })

  test("without one, Fastify's own sends status, fields and message", async () => {
    const reply = await (await listen(await refusing('throw')))('GET /')
    expect([reply.status, JSON.parse(reply.body)]).toEqual([
      429,
      {
        statusCode: 429,
        code: 'SLUICE_REFUSED',
        error: 'Too Many Requests',
        message: 'Quota Exceeded',
      },
    ])
    expect(reply.limitFields()).toMatchObject(FIELDS)
    expect(reply.field('Cache-Control')).toBe('no-store')
  })
})

describe('respond as a function', () => {
  const slow = { error: 'slow down' }
  const functions: [string, Exclude<Respond, 'throw'>][] = [
    ['sends', (_, __, reply) => void reply.send(slow)],
    ['sends later', (_, __, reply) => void setImmediate(() => reply.send(slow))],
    ['returns the reply', (_, __, reply) => reply.send(slow)],
    ['is asynchronous', async (_, __, reply) => void (await reply.send(slow))],
    ['is asynchronous and returns the reply', async (_, __, reply) => reply.send(slow)],
    ['returns a value', () => slow],
    ['returns a value later', async () => slow],
    [
      'sends and returns a value',
      (_, __, reply) => {
        reply.send(slow)
        return 'too late'
      },
    ],
    [
      'returns text',
      (_, __, reply) => {
        reply.type('application/json')
        return JSON.stringify(slow)
      },
    ],
  ]

  test.each(functions)('that %s', async (_, respond) => {
    logged.length = 0
    const reply = await (await listen(await refusing(respond)))('GET /')
    expect([reply.status, reply.body]).toEqual([429, JSON.stringify(slow)])
    expect(reply.limitFields()).toMatchObject(FIELDS)
    expect(logged).toEqual([])
  })

  test.each<[string, Exclude<Respond, 'throw'>]>([
    ['at once', async (_, __, reply) => reply.code(420)],
    ['later', (_, __, reply) => new Promise((resolve) => setImmediate(resolve)).then(() => reply)],
  ])('that resolves %s to the reply, unsent: the default body', async (when, respond) => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const reply = await (await listen(await refusing(respond)))('GET /')
    expect(reply.status).toBe(when === 'later' ? 429 : 420)
    expect(JSON.parse(reply.body)).toMatchObject({ title: 'Quota Exceeded' })
    warn.mockRestore()
  })

  test("gets Fastify's request and reply, and may choose another status", async () => {
    const seen: unknown[] = []
    const app = await refusing((decision, request: FastifyRequest, reply: FastifyReply) => {
      seen.push(request.routeOptions.url, request.ip, request.rateLimit === decision)
      return reply.redirect('/slow', 303)
    })
    const reply = await (await listen(app))('GET /')
    expect([reply.status, reply.field('Location')]).toEqual([303, '/slow'])
    expect(seen).toEqual(['/', '127.0.0.1', true])
  })

  test.each<[string, Exclude<Respond, 'throw'>]>([
    ['throws', () => JSON.parse('nonsense')],
    ['rejects', async () => JSON.parse('nonsense')],
    [
      'returns what cannot be sent',
      (_, __, reply) => {
        reply.type('text/plain')
        return 7n
      },
    ],
  ])('that %s: the error handler hears of it once', async (_, respond) => {
    const errors: unknown[] = []
    const app = await refusing(respond, (app) =>
      app.setErrorHandler((error, __, reply) => {
        errors.push(error)
        reply.code(500).send()
      }),
    )
    expect((await (await listen(app))('GET /')).status).toBe(500)
    expect(errors).toEqual([expect.any(Error)])
  })
})

test('an error of the application keeps the fields', async () => {
  const app = fastify()
  await app.register(rateLimit, { ...NEVER, limit: 5 })
  app.get('/', async () => JSON.parse('nonsense'))
  const reply = await (await listen(app))('GET /')
  expect([reply.status, reply.remaining]).toEqual([500, 4])
})

test("onSend hooks see a refusal as any other reply's", async () => {
  const app = await refusing()
  const types: unknown[] = []
  app.addHook('onSend', async (_, reply) => {
    types.push(reply.getHeader('content-type'))
    reply.header('X-Request', '7')
  })
  expect((await (await listen(app))('GET /')).field('X-Request')).toBe('7')
  expect(types).toEqual(['application/problem+json'])
})
