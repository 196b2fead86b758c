import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  type CreateMcpHandlerOptions,
  createMcpHandler,
  inputRequired,
  McpServer,
  Server,
} from '@modelcontextprotocol/server'
import { memoryStore, type SluiceError } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { createMcpLimiter, type McpLimiterOptions } from './index.ts'
import { allowed, call, clientOf, connect, type Revision } from './testing/connect.ts'
import { library } from './testing/library.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  jest.restoreAllMocks()
})

function limiterWith(options: Partial<McpLimiterOptions> = {}) {
  const limiter = createMcpLimiter({
    key: () => 'ada',
    limit: 100,
    window: '1m',
    store: memoryStore({ clock: manualClock(0) }),
    ...options,
  } as McpLimiterOptions)
  ends.push(() => limiter.close())
  return limiter
}

async function serve(options?: Partial<McpLimiterOptions>, server = library()): Promise<Client> {
  const client = await clientOf(limiterWith(options).apply(server))
  ends.push(() => client.close())
  return client
}

const SEARCHES = { tools: { search: { limit: 10, window: '1m' } } } as const

describe('what is counted', () => {
  test('calls of a tool, exactly, and in all its servers', async () => {
    const limiter = limiterWith(SEARCHES)
    const clients = await Promise.all([1, 2].map(() => clientOf(limiter.apply(library()))))
    const results = await Promise.all(clients.map((client) => call(client, 50)))
    expect(allowed(results.flat())).toBe(10)
    expect(allowed(await call(clients[0] as Client, 3, 'lend'))).toBe(3)
  })

  test('all calls, reads and gets together; a refusal of one limit is charged to none', async () => {
    const client = await serve({ ...SEARCHES, limit: 12 })
    expect(allowed(await call(client, 30))).toBe(10)
    await client.readResource({ uri: 'library://shelf' })
    await client.getPrompt({ name: 'summary' })
    await expect(client.getPrompt({ name: 'summary' })).rejects.toMatchObject({ code: -32023 })
    expect(allowed(await call(client, 1, 'lend'))).toBe(0)
  })

  test('resources and prompts have limits of their own', async () => {
    const one = { limit: 1, window: '1m' } as const
    const client = await serve({ resources: one, prompts: one })
    const read = () => client.readResource({ uri: 'library://shelf' })
    const get = () => client.getPrompt({ name: 'summary' })
    await read()
    await get()
    await expect(read()).rejects.toMatchObject({ data: { policy: 'resources' } })
    await expect(get()).rejects.toMatchObject({ data: { policy: 'prompts' } })
  })

  test('a policy may have another key: one user, several grants', async () => {
    let grant = 'first'
    const client = await serve({
      limit: undefined,
      window: undefined,
      policies: [
        { name: 'user', limit: 5, window: '1m' },
        { name: 'grant', limit: 3, window: '1m', key: () => `ada ${grant}` },
      ],
    })
    expect(allowed(await call(client, 10))).toBe(3)
    grant = 'second'
    expect(allowed(await call(client, 10))).toBe(2)
  })

  test('a call that asks its user in between counts once', async () => {
    const server = new McpServer({ name: 'one', version: '1.0.0' })
    const schema = { type: 'object', properties: {} } as const
    server.registerTool('ask', {}, async ({ mcpReq }) =>
      mcpReq.inputResponses === undefined
        ? inputRequired({
            inputRequests: {
              sure: inputRequired.elicit({ message: 'Sure?', requestedSchema: schema }),
            },
          })
        : { content: [{ type: 'text', text: 'Done.' }] },
    )
    const client = await serve({ limit: 1 }, server)
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }))
    expect(await call(client, 1, 'ask')).toMatchObject([{ content: [{ text: 'Done.' }] }])
    expect(allowed(await call(client, 1, 'ask'))).toBe(0)
  })
})

describe('a refusal', () => {
  test('of a tool is a result that tells the model how long to wait', async () => {
    const client = await serve(SEARCHES)
    const refused = (await call(client, 11)).at(-1)
    expect(refused).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: 'Rate limit exceeded. Wait 60 seconds before you call search again. Other tools may work meanwhile.',
        },
      ],
      _meta: {
        'io.github.sluicejs/rate-limit': {
          retryAfterMs: expect.any(Number),
          retryAfter: 60,
          policy: 'tool:search',
        },
      },
    })
  })

  test('of all calls says so; seconds are rounded up', async () => {
    const client = await serve({ limit: 1, window: '1s', algorithm: 'fixed-window' })
    expect((await call(client, 2)).at(-1)).toMatchObject({
      content: [{ text: 'Rate limit exceeded. Wait 1 second before your next call.' }],
      _meta: { 'io.github.sluicejs/rate-limit': { retryAfter: 1, policy: 'default' } },
    })
  })

  test('that no wait ends has no time', async () => {
    const client = await serve({ limit: 0 })
    expect(await call(client, 1)).toMatchObject([
      {
        content: [{ text: 'Rate limit exceeded. Do not try again: no wait is enough.' }],
        _meta: { 'io.github.sluicejs/rate-limit': { policy: 'default' } },
      },
    ])
  })

  test('of a resource or a prompt is an error of the protocol', async () => {
    const client = await serve({ limit: 1, window: '90s', algorithm: 'fixed-window' })
    await client.readResource({ uri: 'library://shelf' })
    const error = {
      code: -32023,
      message: expect.stringContaining(
        'Rate limit exceeded (429 Too Many Requests). Wait 90 seconds before your next call.',
      ),
      data: { retryAfterMs: 90_000, retryAfter: 90, policy: 'default' },
    }
    await expect(client.readResource({ uri: 'library://shelf' })).rejects.toMatchObject(error)
    await expect(client.getPrompt({ name: 'summary' })).rejects.toMatchObject(error)
  })

  test('reaches onDecision', async () => {
    const seen: unknown[] = []
    const client = await serve({
      limit: 1,
      onDecision: ({ allowed }, _, key) => seen.push([allowed, key]),
    })
    await call(client, 2)
    expect(seen).toEqual([
      [true, 'ada'],
      [false, 'ada'],
    ])
  })

  test('of a leaky bucket comes after its queue', async () => {
    const store = memoryStore()
    ends.push(() => store.close())
    const client = await serve({
      store,
      limit: 10,
      window: '1s',
      algorithm: 'leaky-bucket',
      maxDelay: '100ms',
    })
    const startedAt = performance.now()
    expect(allowed(await call(client, 3))).toBe(2)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99)
  })
})

describe('whatever the server does, it is limited', () => {
  const one = { limit: 1 }
  const result = () => ({ content: [{ type: 'text' as const, text: 'Done.' }] })

  test('tools that are registered before the limiter, and after it', async () => {
    const server = limiterWith(one).apply(library())
    server.registerTool('later', {}, result)
    const client = await clientOf(server)
    expect(allowed(await call(client, 1, 'search'))).toBe(1)
    expect(allowed(await call(client, 1, 'later'))).toBe(0)
  })

  test('tools of a server that had none', async () => {
    const server = limiterWith(one).apply(new McpServer({ name: 'one', version: '1.0.0' }))
    server.registerTool('search', {}, result)
    expect(allowed(await call(await clientOf(server), 3))).toBe(1)
  })

  test('tools that are updated, renamed, disabled and enabled', async () => {
    const server = new McpServer({ name: 'one', version: '1.0.0' })
    const tool = server.registerTool('old', {}, result)
    const client = await serve({ tools: { search: { limit: 2, window: '1m' } } }, server)
    tool.update({ name: 'search', callback: () => result() })
    tool.disable()
    tool.enable()
    expect(allowed(await call(client, 3))).toBe(2)
  })

  test.each(['before', 'after'])('handlers of a low-level server, set %s', async (when) => {
    const limiter = limiterWith(one)
    const server = new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } })
    if (when === 'after') limiter.apply(server)
    server.setRequestHandler('tools/call', result)
    if (when === 'before') limiter.apply(server)
    // The SDK lets the last one win.
    server.setRequestHandler('tools/call', result)
    expect(allowed(await call(await clientOf(server), 3))).toBe(1)
  })

  test('a handler with a schema of its own', async () => {
    const server = new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } })
    const limiter = limiterWith({ tools: { search: { limit: 2, window: '1m' } } }).apply(server)
    const anything = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) }
    limiter.setRequestHandler('tools/call', { params: { '~standard': anything } as never }, result)
    expect(allowed(await call(await clientOf(server), 3))).toBe(2)
  })

  test.each(['before', 'after'])('the handler of all other requests, set %s', async (when) => {
    const limiter = limiterWith(one)
    const server = new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } })
    if (when === 'after') limiter.apply(server)
    server.fallbackRequestHandler = async () => result()
    if (when === 'before') limiter.apply(server)
    expect(allowed(await call(await clientOf(server), 3))).toBe(1)
  })

  test('once, if the same limiter is applied again; by one limiter only', async () => {
    const limiter = limiterWith({ limit: 2 })
    const server = limiter.apply(limiter.apply(library()))
    expect(() => limiterWith().apply(server)).toThrow('Give one limiter `policies`')
    expect(allowed(await call(await clientOf(server), 3))).toBe(2)
  })
})

describe('options', () => {
  const optionsWith = (given: object) => () =>
    createMcpLimiter({ key: () => 'ada', limit: 1, window: '1m', ...given })
  test.each<[string, object]>([
    ['key', { key: 'user' }],
    ['limit', { limit: -1 }],
    ['limti', { limti: 1 }],
    ['concurrent', { concurrent: 1 }],
    ['tools.search', { tools: { search: 1 } }],
    ['tools.search.window', { tools: { search: { limit: 1, window: 'soon' } } }],
    ['tools.search.name', { tools: { search: { name: 'x', limit: 1, window: '1m' } } }],
    ['tools.search.key', { tools: { search: { limit: 1, window: '1m', key: 'x' } } }],
    ['resources.limit', { resources: { limit: '1', window: '1m' } }],
    ['prompts.limit', { prompts: { window: '1m' } }],
    ['limit', { policies: [{ name: 'all', limit: 1, window: '1m' }] }],
    ['policies[0].reserve', { limit: undefined, window: undefined, policies: [{ reserve: true }] }],
  ])('%s is checked', (option, given) => {
    expect(optionsWith(given)).toThrow(expect.objectContaining({ option }) as never)
  })

  test.each<[string, object, string]>([
    ['no limit', { limit: undefined }, "Write limit: 100 and window: '1m'"],
    ['concurrent', { concurrent: 1 }, 'Remove it or correct its name'],
    [
      'concurrent of a tool',
      { tools: { search: { concurrent: 1 } } },
      'Remove it or correct its name',
    ],
  ])('%s: the message suggests nothing that does not exist here', (_, given, fix) => {
    const thrown = expect(optionsWith(given))
    thrown.toThrow(fix)
    thrown.not.toThrow(/policies\.|either concurrent/)
  })

  test('a tool that is disabled at first, or for other users, is limited; the warning allows for it', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const server = new McpServer({ name: 'one', version: '1.0.0' })
    const result = () => ({ content: [{ type: 'text' as const, text: 'Done.' }] })
    const tool = server.registerTool('later', {}, result)
    tool.disable()
    const client = await serve({ tools: { later: { limit: 1, window: '1m' } } }, server)
    await client.listTools()
    expect(warn.mock.calls).toMatchObject([
      [expect.stringContaining('unless the tool is disabled or for other users'), {}],
    ])
    tool.enable()
    expect(allowed(await call(client, 3, 'later'))).toBe(1)
  })

  test('a name in tools that no tool has gives one warning, when the tools are listed', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const terms = { limit: 1, window: '1m' } as const
    const limiter = limiterWith({ tools: { search: terms, serach: terms } })
    for (const _ of [1, 2]) await (await clientOf(limiter.apply(library()))).listTools()
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining("a limit for 'serach'"),
        expect.objectContaining({ code: 'SLUICE_TOOL_UNKNOWN' }),
      ],
    ])
  })
})

describe('adversaries', () => {
  test('unknown tools share the limit of all calls: no name makes a quota', async () => {
    const store = memoryStore()
    ends.push(() => store.close())
    const client = await serve({ ...SEARCHES, store, limit: 50 })
    const names = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(10_000, 'x'))
    const calls = await Promise.allSettled(names.map((name) => call(client, 1, name)))
    expect(calls.filter(({ status }) => status === 'rejected')).toHaveLength(50)
    expect(store.size).toBe(1)
  })

  test.each<[string, () => string]>([
    ['returns an empty text', () => ''],
    ['returns undefined', () => undefined as never],
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    ['rejects', (() => Promise.reject(new Error('secret'))) as never],
  ])('a key function that %s lets nothing through, and says so', async (what, key) => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const ran: string[] = []
    const server = library(ran)
    const seen: unknown[] = []
    server.server.onerror = (error) => seen.push(error)
    const client = await serve({ ...SEARCHES, key }, server)
    const error = await call(client, 1).catch((thrown: SluiceError) => thrown)
    expect(error).toMatchObject({ message: expect.stringContaining('Return the id of the client') })
    expect(String((error as Error).message)).not.toContain('secret')
    expect(ran).toEqual([])
    expect(seen).toMatchObject([{ code: 'SLUICE_KEY' }])
    if (/throws|rejects/.test(what)) expect(seen).toMatchObject([{ cause: { message: 'secret' } }])
    await expect(client.readResource({ uri: 'library://shelf' })).rejects.toThrow('Return the id')
  })

  test('a cancelled call is charged, and does not run if it has not begun', async () => {
    const ran: string[] = []
    let go = () => {}
    const gone = new Promise<void>((resolve) => {
      go = resolve
    })
    const key = async () => {
      await gone
      return 'ada'
    }
    const client = await serve({ limit: 2, key }, library(ran))
    const abort = new AbortController()
    const cancelled = client.callTool({ name: 'search' }, { signal: abort.signal })
    await client.ping()
    abort.abort()
    await expect(cancelled).rejects.toThrow()
    await client.ping()
    go()
    expect(allowed(await call(client, 2))).toBe(1)
    expect(ran).toHaveLength(1)
  })
})

describe('over HTTP, proxies and metrics see a refusal', () => {
  async function exchange(
    revision: Revision,
    ask: (client: Client) => Promise<unknown>,
    options: Partial<McpLimiterOptions> = {},
    handlerOptions: CreateMcpHandlerOptions = {},
  ) {
    const limiter = limiterWith({ limit: 0, window: '90s', ...options })
    const { fetch } = createMcpHandler(() => limiter.apply(library()), handlerOptions)
    const responses: Response[] = []
    const transport = new StreamableHTTPClientTransport(new URL('http://mcp.example/'), {
      async fetch(url, init) {
        const response = await fetch(new Request(url, init))
        responses.push(response.clone())
        return response
      },
    })
    const client = await connect(transport, revision)
    ends.push(() => client.close())
    const answer = await ask(client).catch((error) => error)
    const response = responses.at(-1) as Response
    return { answer, response, text: await response.text() }
  }
  const read = (client: Client) => client.readResource({ uri: 'library://shelf' })
  const get = (client: Client) => client.getPrompt({ name: 'summary' })
  const used = { limit: 1, algorithm: 'fixed-window' } as const

  test.each<[string, (client: Client) => Promise<unknown>]>([
    ['a read', read],
    ['a get', get],
  ])('%s: 429, Retry-After, and the error of the protocol', async (_, ask) => {
    const both = (client: Client) => ask(client).then(() => ask(client))
    const { answer, response, text } = await exchange('2026-07-28', both, used)
    expect([response.status, response.headers.get('Retry-After')]).toEqual([429, '90'])
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(JSON.parse(text)).toMatchObject({
      error: { code: -32023, data: { retryAfter: 90, policy: 'default' } },
    })
    expect(answer).toMatchObject({ message: expect.stringContaining('Wait 90 seconds') })
  })

  test('that no wait ends: without Retry-After', async () => {
    const { response } = await exchange('2026-07-28', read)
    expect([response.status, response.headers.get('Retry-After')]).toEqual([429, null])
  })

  test('a tool: the result that the model reads, 200, with Retry-After', async () => {
    const calls = (client: Client) => call(client, 1).then(() => call(client, 1))
    const { answer, response } = await exchange('2026-07-28', calls, used)
    expect([response.status, response.headers.get('Retry-After')]).toEqual([200, '90'])
    expect(answer).toMatchObject([{ isError: true }])
  })

  test('what is admitted is left as it is', async () => {
    const { response } = await exchange('2026-07-28', read, used)
    expect([response.status, response.headers.get('Retry-After')]).toEqual([200, null])
  })

  test.each([
    ['2026-07-28', { responseMode: 'sse' }],
    ['2025-11-25', {}],
  ] as const)(
    'of a stream (%s) only in the error: its 200 is sent before',
    async (revision, mode) => {
      const { answer, response } = await exchange(revision, read, {}, mode)
      expect([response.status, response.headers.get('Retry-After')]).toEqual([200, null])
      expect(answer).toMatchObject({ code: -32023 })
    },
  )

  test('the event of decisions names the policy and the refusal', async () => {
    const seen: unknown[] = []
    const listen = (event: unknown) => seen.push(event)
    subscribe('sluice:decision', listen)
    ends.push(() => unsubscribe('sluice:decision', listen))
    await exchange('2026-07-28', (client) => call(client, 1), SEARCHES)
    expect(seen).toMatchObject([
      { result: 'refused', policy: 'default', policies: [{}, { name: 'tool:search' }] },
    ])
  })
})
