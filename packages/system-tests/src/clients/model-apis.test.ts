import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { until } from '@sluice/test-harness/redis'
import express, { type Request } from 'express'
import OpenAI from 'openai'

/** A window whose end is between two seconds, ms: Retry-After is 2 s, Retry-After-Ms about this. */
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
    const monthly = rateLimit({
      key: ({ originalUrl }: Request) => originalUrl,
      headers: api,
      policies: [{ ...tokens, window: '31d' }],
    })
    app.use(`/monthly/${api}`, monthly, (_, response) => void response.json({}))
  }
  server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

const openai = (budget = '') => {
  const client = new OpenAI({ baseURL: `${url}${budget}/openai`, apiKey: 'none' })
  return client.chat.completions.create({ model: 'any', messages: [] }).asResponse()
}
const anthropic = (budget = '') => {
  const client = new Anthropic({ baseURL: `${url}${budget}/anthropic`, apiKey: 'none' })
  return client.messages.create({ model: 'any', messages: [], max_tokens: 1 }).asResponse()
}

/** The clients, which by their own count would be back after half a second, by Retry-After after two. */
test.each([
  ['openai', '/openai/chat/completions', openai, 'x-ratelimit-remaining-tokens'],
  [
    '@anthropic-ai/sdk',
    '/anthropic/v1/messages',
    anthropic,
    'anthropic-ratelimit-tokens-remaining',
  ],
])('%s waits for as long as Retry-After-Ms says', async (_, path, send, field) => {
  const waitsSo = async () => {
    await until(() => send().then(({ headers }) => headers.get(field) === '0'), {
      what: 'the budget is used up',
    })
    const requestsBefore = requestsOf(path)
    const start = performance.now()
    const { status } = await send()
    const waited = performance.now() - start
    expect(status).toBe(200)
    // A stall makes it late, or lets the window end before it asks: then it is measured again.
    const retries = requestsOf(path) - requestsBefore - 1
    return retries === 1 && waited > WINDOW_MS / 2 && waited < 1990
  }
  await until(waitsSo, { what: `it is refused once, and back within ${WINDOW_MS} … 1990 ms` })
})

test.each([
  ['openai', '/monthly/openai/chat/completions', openai],
  ['@anthropic-ai/sdk', '/monthly/anthropic/v1/messages', anthropic],
])('%s gives a wait of days to the application, instead of sleeping', async (_, path, send) => {
  await send('/monthly')
  const refused = await send('/monthly').catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 429 })
  const { headers } = refused as { headers: Headers }
  expect(Number(headers.get('Retry-After-Ms'))).toBeGreaterThan(86_400_000)
  expect(headers.get('X-Should-Retry')).toBe('false')
  expect(requestsOf(path)).toBe(2)
  // Without a body that it knows, the SDK of OpenAI says that there is none.
  const text = /^429 (Quota Exceeded\. Please try again in \d+h|\{"type")/
  expect((refused as Error).message).toMatch(text)
})
