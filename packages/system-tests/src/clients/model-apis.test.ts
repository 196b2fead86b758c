import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import express, { type Request } from 'express'
import OpenAI from 'openai'

/** Between the seconds: Retry-After is 2 s, Retry-After-Ms about this. */
const WINDOW_MS = 1100

const requests = new Map<string, number>()
const requestsOf = (path: string) => requests.get(path) ?? 0
let server: Server
let url: string

/** Two model APIs with a budget in tokens, which one call exhausts. */
beforeAll(async () => {
  const app = express()
  app.use(({ path }, _, next) => {
    requests.set(path, requestsOf(path) + 1)
    next()
  })
  for (const api of ['openai', 'anthropic'] as const) {
    const tokens = { name: 'tokens', unit: 'tokens', limit: 1000, cost: 1000 } as const
    const limit = rateLimit({
      key: ({ originalUrl }: Request) => originalUrl,
      headers: ['draft-11', api],
      policies: [
        { name: 'requests', limit: 100, window: '1m' },
        { ...tokens, window: WINDOW_MS, algorithm: 'sliding-log' },
      ],
    })
    app.use(`/${api}`, limit, (_, response) => void response.json({}))
  }
  server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

const openai = () => {
  const client = new OpenAI({ baseURL: `${url}/openai`, apiKey: 'none' })
  return client.chat.completions.create({ model: 'any', messages: [] }).asResponse()
}
const anthropic = () => {
  const client = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: 'none' })
  return client.messages.create({ model: 'any', messages: [], max_tokens: 1 }).asResponse()
}

/** By their own count they would be back after half a second, by Retry-After after two. */
test.each([
  ['openai', '/openai/chat/completions', openai, 'x-ratelimit-remaining-tokens'],
  [
    '@anthropic-ai/sdk',
    '/anthropic/v1/messages',
    anthropic,
    'anthropic-ratelimit-tokens-remaining',
  ],
])('%s waits for as long as Retry-After-Ms says', async (_, path, send, field) => {
  const first = await send()
  expect([first.status, first.headers.get(field)]).toEqual([200, '0'])
  const start = performance.now()
  const { status } = await send()
  expect([status, requestsOf(path)]).toEqual([200, 3])
  expect(performance.now() - start).toBeGreaterThan(WINDOW_MS / 2)
  expect(performance.now() - start).toBeLessThan(1990)
})
