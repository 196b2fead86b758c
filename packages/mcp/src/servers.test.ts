import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from '@jest/globals'
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { memoryStore, redisStore } from '@sluice/core'
import { useRedis } from '@sluice/test-harness/jest'
import { startProxy } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createMcpLimiter, type McpLimiter, type McpLimiterOptions } from './index.ts'
import { allowed, call, connect, REVISIONS, type Revision } from './testing/connect.ts'
import { library } from './testing/library.ts'

const redis = useRedis()
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const DAY = { window: '1d', algorithm: 'sliding-log' } as const

function limiterWith(options: Partial<McpLimiterOptions>) {
  const limiter = createMcpLimiter({
    key: ({ http }) => `user:${http?.authInfo?.extra?.user}`,
    prefix: randomUUID().slice(0, 8),
    limit: 50,
    ...DAY,
    tools: { search: { limit: 10, ...DAY } },
    ...options,
  } as McpLimiterOptions)
  ends.push(() => limiter.close())
  return limiter
}

/** Listens, and takes the name of a user for a token. */
async function listen(handle: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer((request, response) => {
    const [, user = ''] = request.headers.authorization?.split(' ') ?? []
    const auth = { token: user, clientId: 'app', scopes: [], extra: { user } }
    handle?.(Object.assign(request, { auth }), response)
  }).listen(0, '127.0.0.1')
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const serve = (limiter: McpLimiter) =>
  listen(toNodeHandler(createMcpHandler(() => limiter.apply(library()))))

const headersOf = (user: string) => ({ Authorization: `Bearer ${user}` })

async function clientOf(url: string, user = 'ada', revision?: Revision): Promise<Client> {
  const requestInit = { headers: headersOf(user) }
  const client = await connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit }),
    revision,
  )
  ends.push(() => client.close())
  return client
}

async function clientOfProcess(revision?: Revision, env = {}): Promise<Client> {
  const args = ['--import', 'tsx', join(__dirname, 'testing/stdio.script.ts')]
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env: { ...(process.env as Record<string, string>), ...env },
  })
  const client = await connect(transport, revision)
  ends.push(() => client.close())
  return client
}

describe('over stdio', () => {
  test.each(REVISIONS)('revision %s', async (revision) => {
    const client = await clientOfProcess(revision)
    expect(allowed(await call(client, 100))).toBe(10)
    const reads = Array.from({ length: 6 }, () => client.readResource({ uri: 'library://shelf' }))
    const refused = (await Promise.allSettled(reads)).filter(({ status }) => status === 'rejected')
    expect(refused).toMatchObject([
      { reason: { code: -32023, data: { policy: 'resources', retryAfter: expect.any(Number) } } },
    ])
  })

  test('two processes on one Redis admit exactly as many as one', async () => {
    const env = { REDIS_URL: redis.server.url }
    const clients = await Promise.all([1, 2].map(() => clientOfProcess(undefined, env)))
    const results = await Promise.all(clients.map((client) => call(client, 50)))
    expect(allowed(results.flat())).toBe(10)
  })
})

describe.each(['memory', 'Redis'])('over HTTP, counted in %s', (kind) => {
  const store = () => (kind === 'memory' ? memoryStore() : redisStore(redis.client))
  const patient = { deadline: '30s' } as const

  test.each(REVISIONS)('revision %s: 10 of 100', async (revision) => {
    const url = await serve(limiterWith({ store: store(), ...patient }))
    const ada = await clientOf(url, 'ada', revision)
    expect(allowed(await call(ada, 100))).toBe(10)
    expect(allowed(await call(await clientOf(url, 'ben', revision), 1))).toBe(1)
  })

  test('each call of a batch counts', async () => {
    const url = await serve(limiterWith({ store: store(), ...patient }))
    const params = { name: 'search', arguments: {} }
    const batch = Array.from({ length: 100 }, (_, id) => {
      return { jsonrpc: '2.0', id, method: 'tools/call', params }
    })
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headersOf('ada'),
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': '2025-03-26',
      },
      body: JSON.stringify(batch),
    })
    const text = await response.text()
    expect(text.match(/"Done\."/g)).toHaveLength(10)
    expect(text.match(/"isError":true/g)).toHaveLength(90)
  })

  test('sessions share the quota of their user', async () => {
    const limiter = limiterWith({ store: store(), ...patient })
    const sessions = new Map<string, NodeStreamableHTTPServerTransport>()
    const url = await listen(async (request: IncomingMessage, response) => {
      const known = sessions.get(`${request.headers['mcp-session-id']}`)
      const transport =
        known ??
        new NodeStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (id) => void sessions.set(id, transport),
        })
      if (known === undefined) await limiter.apply(library()).connect(transport)
      await transport.handleRequest(request, response)
    })
    const clients = []
    for (let i = 0; i < 20; i += 1) clients.push(await clientOf(url, 'ada', '2025-11-25'))
    expect(sessions.size).toBe(20)
    const results = await Promise.all(clients.map((client) => call(client, 5)))
    expect(allowed(results.flat())).toBe(10)
  })

  test('the id of a user may have 10 kB', async () => {
    const key = () => 'x'.repeat(10_000)
    const url = await serve(limiterWith({ store: store(), key, ...patient }))
    expect(allowed(await call(await clientOf(url), 20))).toBe(10)
    if (kind === 'memory') return
    const keys = await redis.client.keys('*')
    expect(Math.max(...keys.map(({ length }) => length))).toBeLessThan(500)
  })
})

describe('while Redis hangs', () => {
  test.each([
    ['allow', 20],
    ['deny', 0],
    ['local', 10],
  ] as const)('%s decides within the deadline', async (onStoreError, admitted) => {
    const proxy = await startProxy(redis.server)
    const client = new Redis(proxy.url)
    ends.push(
      () => proxy.stop(),
      () => client.disconnect(),
    )
    const limiter = limiterWith({ store: client, onStoreError, deadline: '200ms' })
    const url = await serve(limiter)
    const ada = await clientOf(url)
    expect(allowed(await call(ada, 1, 'lend'))).toBe(1)
    proxy.blackhole()
    const startedAt = performance.now()
    const results = await call(ada, 20)
    expect(allowed(results)).toBe(admitted)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    if (onStoreError === 'deny')
      expect(results[0]).toMatchObject({
        content: [
          { text: expect.stringMatching(/^Rate limit exceeded\. Wait 5 seconds, then try/) },
        ],
      })
  })
})
