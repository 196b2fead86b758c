// What limits write into an OpenAPI document, beside what a real server sends.

import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { type RateLimitOptions, rateLimit, SluiceError } from '@sluice/express'
import { rateLimit as honoLimit, limitFetch } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node'
import { Spectral } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import { Ajv2020 } from 'ajv/dist/2020.js'
import express from 'express'
import { Redis } from 'ioredis'

type Response = { $ref?: string; description: string; headers?: object; content?: object }
type Operation = { responses?: Record<string, Response> }
type Document = {
  openapi: string
  info: { title: string; version: string }
  servers?: { url: string }[]
  paths: Record<string, Record<string, unknown>>
  components?: Record<string, Record<string, unknown>>
}

const served = { responses: { 200: { description: 'Served.' } } }

function documentOf(paths: Document['paths'], openapi = '3.1.0'): Document {
  return { openapi, info: { title: 'An API', version: '1' }, paths }
}

/** The responses of an operation, with what they refer to in place of the references. */
function responsesOf(document: Document, path: string, method = 'get') {
  const { responses = {} } = resolved(document, document.paths[path]?.[method]) as Operation
  return responses
}

function resolved(document: Document, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => resolved(document, each))
  const { $ref } = value as { $ref?: string }
  if ($ref === undefined)
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolved(document, v)]))
  const [, , section, name] = $ref.split('/') as [string, string, string, string]
  return resolved(document, document.components?.[section]?.[name])
}

const publish = (options: RateLimitOptions, document: Document) =>
  rateLimit(options).openapi(document)
const statusesOf = (document: Document, path: string, method?: string) =>
  Object.keys(responsesOf(document, path, method))
const fieldsOf = (response: Response | undefined) => Object.keys(response?.headers ?? {}).sort()

const DRAFT_11 = ['RateLimit', 'RateLimit-Policy']
const LIMIT = { limit: 100, window: '1m', headers: 'draft-11' } as const
/** The first request begins a ban. */
const BANNED = {
  limit: 0,
  statusCode: 503,
  ban: { after: 1, within: '1h', for: ['1h'] },
} as const
/** A server of Redis that nobody reaches, without which every request is refused. */
const closed = () =>
  ({
    store: new Redis(1, { lazyConnect: true, retryStrategy: () => null }),
    onStoreError: 'deny',
  }) as const

describe("Spectral's OWASP rules", () => {
  const paths = {
    '/users/{id}': { get: served, delete: { responses: { 204: { description: 'Deleted.' } } } },
    '/logins': {
      post: { responses: { 201: { description: 'In.' }, 401: { description: 'Not.' } } },
    },
  }

  async function findings(document: Document): Promise<string[]> {
    const spectral = new Spectral()
    spectral.setRuleset(owasp as never)
    const found = await spectral.run(document as never)
    return found.map(({ code, path }) => `${code} ${path.join('.')}`)
  }

  test.each(['3.0.3', '3.1.0'])(
    'accept the limits of a document of version %s',
    async (version) => {
      const document = documentOf(paths, version)
      const before = await findings(document)
      const ofLimits = (each: string) => each.startsWith('owasp:api4:2023-rate-limit')
      expect(before.filter(ofLimits).length).toBeGreaterThan(5)
      const routes = {
        'POST /logins': { limit: 5, window: '15m', ban: { after: 3, within: '1h', for: ['1h'] } },
      } as const
      for (const headers of [
        undefined,
        'draft-11',
        'draft-6',
        'legacy',
        ['draft-11', 'legacy'],
      ] as const) {
        const options = { ...LIMIT, headers, routes, deny: ['192.0.2.1'], ...closed() }
        const after = await findings(await publish(options, document))
        const added = after.filter((each) => !before.includes(each))
        // Nobody but the application knows its origins.
        expect(added.filter((each) => !each.includes('define-cors-origin'))).toEqual([])
        expect(after.filter(ofLimits)).toEqual([])
      }
    },
  )
})

describe('the refusals of a server', () => {
  const close: (() => void)[] = []
  afterEach(() => {
    for (const each of close.splice(0)) each()
  })

  /** What Node and Express send, and every refusal. */
  const OTHERS = /^(cache-control|connection|content-|date|etag|keep-alive|x-powered-by)/
  const sentBy = ({ headers }: globalThis.Response) =>
    [...headers.keys()].filter((name) => !OTHERS.test(name)).sort()
  const publishedOf = (response: Response | undefined) =>
    fieldsOf(response)
      .map((name) => name.toLowerCase())
      .sort()

  test.each<[string, number, object, string[]]>([
    ['a client on deny', 403, { deny: ['127.0.0.1', '::1'] }, []],
    ['a store that fails', 503, closed(), ['retry-after']],
    ['a banned client', 429, BANNED, ['ratelimit', 'ratelimit-policy', 'retry-after']],
  ])('%s: the refusal is as the document says', async (_, status, options, sent) => {
    const limit = rateLimit({ ...LIMIT, ...options })
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const server = express().use(limit).listen(0)
    close.push(() => server.close(), jest.restoreAllMocks)
    const { port } = server.address() as AddressInfo
    const response = responsesOf(await limit.openapi(documentOf({ '/': { get: served } })), '/')[
      status
    ]
    const refused = await fetch(`http://127.0.0.1:${port}/`)
    expect([refused.status, sentBy(refused)]).toEqual([status, sent])
    // Spectral wants the fields of limits in each 4XX; none is required.
    expect(publishedOf(response)).toEqual(expect.arrayContaining(sent))
    const { schema } = Object.values(response?.content ?? {})[0] as { schema: object }
    const ajv = new Ajv2020({ strict: false, formats: { int32: true } })
    const body = await refused.json()
    expect(ajv.validate({ ...schema, additionalProperties: false }, body) || ajv.errors).toBe(true)
  })

  // A window that is about to turn would have other fields.
  const ONE = { limit: 1, window: '1h', algorithm: 'sliding-log' } as const
  const tokens = { name: 'tokens', ...ONE, unit: 'tokens', cost: 1 } as const
  const DRY = [
    { name: 'all', ...ONE },
    { ...tokens, dryRun: true },
  ] as const
  test.each<[string, number, RateLimitOptions]>([
    ['draft-11', 429, ONE],
    ['statusCode 402', 402, { ...ONE, statusCode: 402 }],
    ['statusCode 403', 403, { ...ONE, statusCode: 403 }],
    ['statusCode 404', 404, { ...ONE, statusCode: 404 }],
    ['statusCode 503', 503, { ...ONE, statusCode: 503 }],
    ['no fields', 429, { ...ONE, headers: false }],
    ['several profiles', 429, { ...ONE, headers: ['draft-11', 'draft-6', 'legacy'] }],
    ['OpenAI', 429, { policies: [tokens, { name: 'all', ...ONE }], headers: 'openai' }],
    ['OpenAI without tokens', 429, { ...ONE, headers: 'openai' }],
    ['Anthropic', 429, { ...ONE, headers: ['anthropic', 'draft-7'] }],
    ['a unit without a field', 429, { policies: [tokens], headers: ['draft-11', 'legacy'] }],
    ['a ban', 429, { ...ONE, ban: { after: 1, within: '1h', for: ['1h'] } }],
    ['requests in progress', 429, { concurrent: 0 }],
    ['a dry run among them', 429, { policies: DRY, headers: 'openai' }],
    ['a dry run that is shown', 429, { policies: DRY, headers: ['openai', 'dry-run'] }],
  ])('%s: they are as the document says', async (_, status, options) => {
    const limit = rateLimit(options)
    const app = express().use(limit)
    app.get('/', (_, response) => void response.send('served'))
    const server = app.listen(0)
    close.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const get = () => fetch(`http://127.0.0.1:${port}/`)
    const document = await limit.openapi(documentOf({ '/': { get: served } }))
    const responses = responsesOf(document, '/')
    expect(Object.keys(responses)).toEqual(['200', String(status)])

    const first = await get()
    if (!('concurrent' in options)) expect(sentBy(first)).toEqual(publishedOf(responses[200]))
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { int32: true } })
    const content = responses[status]?.content as Record<string, { schema: object }>
    const schema = content['application/problem+json']?.schema as {
      properties: Record<string, object>
    }
    // Members that the document does not name would be a surprise for its readers.
    const closed = { ...schema, additionalProperties: false }
    for (let i = 0; i < 3; i += 1) {
      const refused = await get()
      expect(refused.status).toBe(status)
      expect(refused.headers.get('content-type')).toMatch('application/problem+json')
      expect(sentBy(refused)).toEqual(publishedOf(responses[status]))
      const body = (await refused.json()) as object
      expect(ajv.validate(closed, body) || ajv.errors).toBe(true)
      expect(Object.keys(body).sort()).toEqual(Object.keys(schema.properties).sort())
    }
  })
})

describe('the operations of a document', () => {
  test('get the limit of their route, as their requests do', async () => {
    const document = documentOf(
      Object.fromEntries(
        ['/health', '/users/{id}', '/users/me', '/files/{path}', '/v1/items', '/other'].map(
          (path) => [path, { summary: 'kept', get: served, post: served, parameters: [] }],
        ),
      ),
    )
    document.servers = [{ url: 'https://api.example.com/v1' }]
    const before = structuredClone(document)
    const published = await publish(
      {
        ...LIMIT,
        routes: {
          '/health': false,
          '/users/:id': { statusCode: 403 },
          'POST /users/:id': false,
          '/users/me': { statusCode: 404 },
          '/files/*path': { statusCode: 402 },
          '/v1/v1/items': { statusCode: 503 },
        },
      },
      document,
    )
    expect(document).toEqual(before)
    expect(published.paths['/health']).toEqual(before.paths['/health'])
    expect(statusesOf(published, '/users/{id}')).toEqual(['200', '403'])
    expect(published.paths['/users/{id}']?.post).toEqual(served)
    expect(statusesOf(published, '/users/me')).toEqual(['200', '404'])
    expect(statusesOf(published, '/files/{path}')).toEqual(['200', '402'])
    expect(statusesOf(published, '/v1/items', 'post')).toEqual(['200', '503'])
    expect(statusesOf(published, '/other', 'post')).toEqual(['200', '429'])
    expect(published.paths['/other']?.summary).toBe('kept')
    expect(published.info).toBe(document.info)
  })

  test('what is no path is left alone, and so is a document without a limit', async () => {
    const document = documentOf({ 'x-internal': { get: served } })
    expect(await publish(LIMIT, document)).toEqual(document)
    const dry = documentOf({ '/': { get: served } })
    expect(await publish({ ...LIMIT, dryRun: true }, dry)).toEqual(dry)
  })

  test('what they document already stays, and misses only fields', async () => {
    const own = { description: 'Slow down.', headers: { 'retry-after': { description: 'own' } } }
    const document = documentOf({
      '/': {
        get: {
          responses: { '2XX': { description: 'ok' }, 302: { description: 'away' }, 429: own },
        },
      },
      '/shared': {
        get: {
          responses: { 200: { $ref: '#/components/responses/Ok' }, 429: { $ref: 'other.json' } },
        },
      },
      '/none': { get: {} },
      '/plain': { get: { responses: { 429: { description: 'own' } } } },
    })
    document.components = { responses: { Ok: { description: 'ok' } } }
    const published = await publish(LIMIT, document)
    const responses = responsesOf(published, '/')
    expect(fieldsOf(responses['2XX'])).toEqual(DRAFT_11)
    expect(responses[302]).toEqual({ description: 'away' })
    expect(responses[429]).toMatchObject({ description: 'Slow down.' })
    expect(responses[429]?.content).toBeUndefined()
    expect(fieldsOf(responses[429])).toEqual([...DRAFT_11, 'retry-after'])
    const shared = published.paths['/shared']?.get as Operation
    expect(fieldsOf(shared.responses?.[200])).toEqual(DRAFT_11)
    expect(shared.responses?.[429]).toEqual({ $ref: 'other.json' })
    expect(published.components?.responses).toEqual(
      expect.objectContaining({ Ok: { description: 'ok' }, RateLimited: expect.anything() }),
    )
    expect(statusesOf(published, '/none')).toEqual(['429'])
    expect(fieldsOf(responsesOf(published, '/plain')[429])).toEqual([...DRAFT_11, 'Retry-After'])
  })

  test('names of components that are taken stay: other names are used, and the second time the same', async () => {
    const document = documentOf({ '/': { get: served } })
    const taken = { description: 'own' }
    document.components = {
      responses: { RateLimited: taken },
      headers: { 'Retry-After': taken },
      schemas: { RateLimitedProblem: { type: 'string' } },
    }
    const published = await publish(LIMIT, document)
    expect(published.components?.responses).toMatchObject({ RateLimited: taken })
    expect(published.components?.headers).toMatchObject({ 'Retry-After': taken })
    expect(Object.keys(published.components?.schemas ?? {})).toEqual([
      'RateLimitedProblem',
      'RateLimitedProblem-2',
    ])
    expect(published.paths['/']?.get).toMatchObject({
      responses: { 429: { $ref: '#/components/responses/RateLimited-2' } },
    })
    expect(responsesOf(published, '/')[429]?.headers).toMatchObject({
      'Retry-After': { schema: { type: 'integer' } },
    })
    expect(await publish(LIMIT, published)).toEqual(published)
  })

  test('have the refusals of deny and of a store only where these can happen', async () => {
    const document = documentOf({ '/': { get: served } })
    const both = { ...LIMIT, onStoreError: 'deny', deny: ['192.0.2.1'] } as const
    const statuses = async (options: RateLimitOptions) =>
      statusesOf(await publish({ ...options, store: closed().store }, document), '/')
    expect(await statuses(both)).toEqual(['200', '403', '429', '503'])
    expect(await statuses({ ...both, respond: 'continue' })).toEqual(['200', '403', '503'])
    expect(await statuses({ ...both, dryRun: true })).toEqual(['200'])
    expect(await statuses({ ...LIMIT, deny: [], allow: ['192.0.2.1'] })).toEqual(['200', '429'])
    const inMemory = await publish({ ...LIMIT, onStoreError: 'deny' }, document)
    expect(statusesOf(inMemory, '/')).toEqual(['200', '429'])
    const refusals = responsesOf(
      await publish({ ...both, ...closed(), statusCode: 503 }, document),
      '/',
    )
    expect(refusals[503]?.description).toBe('Temporary Reduced Capacity: 100 requests per minute.')
  })

  test('one response serves all operations with the same refusal', async () => {
    const document = documentOf({ '/a': { get: served, put: served }, '/b': { get: served } })
    const { components } = await publish({ ...LIMIT, routes: { '/b': { limit: 1 } } }, document)
    expect(Object.keys(components?.responses ?? {})).toEqual(['RateLimited', 'RateLimited-2'])
  })

  test("a respond of the application's own has no content, and a refusal that goes on no response", async () => {
    const document = () => documentOf({ '/': { get: served } })
    const own = await publish({ ...LIMIT, respond: () => 'later' }, document())
    expect(responsesOf(own, '/')[429]?.content).toBeUndefined()
    expect(fieldsOf(responsesOf(own, '/')[429])).toEqual([...DRAFT_11, 'Retry-After'])
    const thrown = await publish({ ...LIMIT, respond: 'throw' }, document())
    expect(responsesOf(thrown, '/')[429]?.content).toBeUndefined()
    const going = await publish({ ...LIMIT, respond: 'continue' }, document())
    expect(statusesOf(going, '/')).toEqual(['200'])
    expect(fieldsOf(responsesOf(going, '/')[200])).toEqual(DRAFT_11)
  })

  test.each<[string, RateLimitOptions]>([
    ['Quota Exceeded: 100 requests per minute.', LIMIT],
    ['Quota Exceeded: 1 request per 90 seconds.', { limit: 1, window: '90s' }],
    ['Quota Exceeded: 5 requests at the same time.', { concurrent: 5 }],
    [
      'Quota Exceeded: 10 requests per second, 5000 tokens per month.',
      {
        policies: [
          { name: 'a', limit: 10, window: '1s' },
          { name: 'b', limit: 5000, window: 'month', unit: 'tokens', cost: 10 },
        ],
      },
    ],
    ['Quota Exceeded.', { limit: () => 5, window: '1m' }],
    ['Quota Exceeded.', { ...LIMIT, cost: 2 }],
    ['Quota Exceeded.', { ...LIMIT, cost: () => 2 }],
    ['Quota Exceeded.', { ...LIMIT, settle: () => 0 }],
    ['Quota Exceeded.', { ...LIMIT, enforce: 0.5 }],
    ['Not Found.', { ...LIMIT, statusCode: 404 }],
  ])('%s', async (description, options) => {
    const published = await publish(options, documentOf({ '/': { get: served } }))
    const responses = responsesOf(published, '/')
    expect(responses[options.statusCode ?? 429]?.description).toBe(description)
  })

  test('publishing is no request: an entry that no request matches still causes a warning', async () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const limit = rateLimit({ ...LIMIT, routes: { '/reports-only-here': { limit: 1 } } })
    await limit.openapi(documentOf({ '/reports-only-here': { get: served } }))
    const server = express().use(limit).listen(0)
    const { port } = server.address() as AddressInfo
    await fetch(`http://127.0.0.1:${port}/api/reports-only-here`)
    server.close()
    expect(String(emitted.mock.calls[0])).toContain('SLUICE_ROUTE_UNMATCHED')
    emitted.mockRestore()
  })

  test('every adapter describes them alike', async () => {
    const document = documentOf({ '/': { get: served } })
    const expected = await publish(LIMIT, document)
    const address = () => '127.0.0.1'
    for (const limit of [
      koaLimit(LIMIT),
      honoLimit({ ...LIMIT, address }),
      limitFetch({ ...LIMIT, address }, () => new Response()),
      nodeLimit(LIMIT),
    ])
      expect(await limit.openapi(document)).toEqual(expected)
  })
})

test.each([
  ['text', 'openapi: 3.1.0'],
  ['nothing', undefined],
  ['Swagger 2.0', { swagger: '2.0', paths: {} }],
  ['paths that are none', { openapi: '3.1.0', paths: 'none' }],
])('what is no document is an error: %s', async (_, document) => {
  const error = await publish(LIMIT, document as never).catch((each: unknown) => each)
  expect(error).toBeInstanceOf(SluiceError)
  expect(error).toMatchObject({
    option: expect.stringMatching(/^document/),
    fix: expect.anything(),
  })
})
