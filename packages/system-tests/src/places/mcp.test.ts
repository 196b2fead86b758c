import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { McpServer } from '@modelcontextprotocol/server'
import { rateLimit } from '@sluice/express'
import type { Program } from '@sluice/test-harness/processes'
import express from 'express'
import { programOf, startProgram, writeProgram } from './page.ts'

const program = programOf('mcp')
const clients: Client[] = []

afterEach(async () => {
  await Promise.all(clients.splice(0).map((each) => each.close()))
})

type Revision = '2026-07-28' | '2025-11-25'

async function connect(
  transport: StreamableHTTPClientTransport | StdioClientTransport,
  revision: Revision = '2026-07-28',
): Promise<Client> {
  const mode = revision === '2026-07-28' ? 'auto' : 'legacy'
  const options = { versionNegotiation: { mode } } as const
  const client = new Client({ name: 'test', version: '1.0.0' }, options)
  clients.push(client)
  await client.connect(transport)
  expect(client.getNegotiatedProtocolVersion()).toBe(revision)
  return client
}

/** Calls the tool so often in parallel, over the clients in turn. */
function search(count: number, ...callers: Client[]) {
  return Promise.all(
    Array.from({ length: count }, (_, i) => {
      return (callers[i % callers.length] as Client).callTool({ name: 'search', arguments: {} })
    }),
  )
}

const REFUSED = {
  isError: true,
  content: [
    {
      type: 'text',
      text: expect.stringMatching(
        /^Rate limit exceeded\. Wait \d+ seconds? before you call search again\./,
      ),
    },
  ],
}

describe('over HTTP', () => {
  let place: Program
  beforeAll(async () => {
    place = await startProgram(program)
  })
  afterAll(() => place.stop())

  function client(token: string, revision?: Revision): Promise<Client> {
    const requestInit = { headers: { Authorization: `Bearer ${token}` } }
    const url = new URL(`${place.url}/mcp`)
    return connect(new StreamableHTTPClientTransport(url, { requestInit }), revision)
  }

  test.each(['2026-07-28', '2025-11-25'] as const)('revision %s', async (revision) => {
    const ada = await client(`ada-${revision}.app.1`, revision)
    const results = await search(13, ada)
    const refused = results.filter(({ isError }) => isError)
    expect(refused).toHaveLength(3)
    expect(refused[0]).toMatchObject(REFUSED)

    const reads = Array.from({ length: 21 }, () => ada.readResource({ uri: 'library://shelf' }))
    const [failed, ...others] = (await Promise.allSettled(reads)).filter(
      ({ status }) => status === 'rejected',
    )
    const overHttp = {
      status: 429,
      text: expect.stringMatching(/"code":-32023,.*"retryAfterMs":\d+/),
    }
    const reason = {
      // The SDK's client gives the body of a 429 as it is; all of 2025 are streamed.
      '2026-07-28': { data: overHttp },
      '2025-11-25': { code: -32023, data: { retryAfterMs: expect.any(Number) } },
    }
    expect(failed).toMatchObject({ reason: reason[revision] })
    expect(others).toEqual([])
  })

  test('another connection, token or application has no quota of its own, another user has', async () => {
    const ada = await Promise.all(
      ['ada.app.1', 'ada.app.1', 'ada.app.2', 'ada.other.1'].map((each) => client(each)),
    )
    const results = await search(20, ...ada)
    expect(results.filter(({ isError }) => !isError)).toHaveLength(10)
    const [other] = await search(1, await client('ben.app.1'))
    expect(other?.isError).toBeFalsy()
  })

  test('each call of a batch counts', async () => {
    const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'search', arguments: {} } }
    const response = await fetch(`${place.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: 'Bearer cy.app.1',
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': '2025-03-26',
      },
      body: JSON.stringify(Array.from({ length: 15 }, (_, id) => ({ ...call, id }))),
    })
    const text = await response.text()
    expect(text.match(/No book found/g)).toHaveLength(10)
    expect(text.match(/"isError":true/g)).toHaveLength(5)
  })

  test('who guesses tokens is refused before they are read', async () => {
    const statuses: number[] = []
    while (statuses.at(-1) !== 429 && statuses.length <= 300) {
      const headers = { Authorization: `Bearer ${statuses.length}` }
      statuses.push((await fetch(`${place.url}/mcp`, { method: 'POST', headers })).status)
    }
    expect(statuses.pop()).toBe(429)
    expect(new Set(statuses)).toEqual(new Set([401]))
    await expect(client('eve.app.1', '2025-11-25')).rejects.toMatchObject({ data: { status: 429 } })
  })
})

describe('a session, when its calls have used up the quota', () => {
  const OWN = { limit: 60, window: '1m' } as const
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })

  async function sessionWith(routes: Record<string, typeof OWN>) {
    const limit = rateLimit({ limit: 4, window: '1h', routes })
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID })
    await new McpServer({ name: 'one', version: '1.0.0' }).connect(transport)
    const app = express().use('/mcp', limit, (request, response) => {
      void transport.handleRequest(request, response)
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ends.push(
      () => server.close(),
      () => server.closeAllConnections(),
    )
    const { port } = server.address() as AddressInfo
    const client = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`))
    const caller = await connect(client, '2025-11-25')
    await expect(Promise.all(Array.from({ length: 4 }, () => caller.ping()))).rejects.toMatchObject(
      { data: { status: 429 } },
    )
    return client
  }

  test('it can’t be ended by DELETE', async () => {
    const client = await sessionWith({})
    await expect(client.terminateSession()).rejects.toMatchObject({ data: { status: 429 } })
  })

  test('with quotas of their own, GET and DELETE are served', async () => {
    const client = await sessionWith({ 'GET /mcp': OWN, 'DELETE /mcp': OWN })
    await expect(client.terminateSession()).resolves.toBeUndefined()
    expect(client.sessionId).toBeUndefined()
  })
})

describe('over stdio', () => {
  let written: Awaited<ReturnType<typeof writeProgram>>
  beforeAll(async () => {
    written = await writeProgram(program)
  })
  afterAll(() => rm(written.folder, { recursive: true }))

  test.each(['2026-07-28', '2025-11-25'] as const)('revision %s', async (revision) => {
    const args = [written.file, '--stdio']
    const client = await connect(
      new StdioClientTransport({ command: process.execPath, args }),
      revision,
    )
    const results = await search(13, client)
    expect(results.filter(({ isError }) => isError)).toEqual(
      Array(3).fill(expect.objectContaining(REFUSED)),
    )
  })
})
