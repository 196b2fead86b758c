import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { exposedHeaders, type RateLimitOptions, rateLimit } from '@sluice/express'
import express from 'express'

/** Fetch, "CORS-safelisted response-header name". */
const SAFELISTED = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]

/**
 * The names that a script of another origin finds on a response: Fetch, "CORS filtered response"
 * and, in its main fetch, how the CORS-exposed header-name list is made.
 */
function readable(headers: Headers, credentials: boolean): string[] {
  const allowed = headers.get('Access-Control-Allow-Origin')
  if (allowed !== 'https://app.example' && (credentials || allowed !== '*')) return []
  const exposed = (headers.get('Access-Control-Expose-Headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
  const names = [...headers.keys()]
  if (!credentials && exposed.includes('*')) return names
  return names.filter((name) => SAFELISTED.includes(name) || exposed.includes(name))
}

async function refusal(
  headers: RateLimitOptions['headers'],
  expose: string | undefined,
): Promise<Headers> {
  const app = express()
  app.use((_, response, next) => {
    response.set('Access-Control-Allow-Origin', 'https://app.example')
    if (expose !== undefined) response.set('Access-Control-Expose-Headers', expose)
    next()
  })
  app.use(rateLimit({ limit: 0, window: '1m', ...(headers === undefined ? {} : { headers }) }))
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = { Origin: 'https://app.example', Connection: 'close' }
  const response = await fetch(`http://127.0.0.1:${port}`, { headers: origin })
  expect(response.status).toBe(429)
  await response.arrayBuffer()
  await new Promise((resolve) => server.close(resolve))
  return response.headers
}

const sent = (headers: Headers) =>
  [...headers.keys()].filter((name) => /ratelimit|retry-after/.test(name))

describe('a script of another origin', () => {
  test.each([
    ['draft-11'],
    ['draft-7'],
    ['draft-6'],
    ['draft-3'],
    ['legacy'],
    ['draft-11', 'draft-6'],
  ] as const)('reads every field of %s %s, credentials or not', async (...headers) => {
    const expose = exposedHeaders(headers).join(', ')
    const response = await refusal(headers, expose)
    for (const credentials of [true, false]) {
      expect(readable(response, credentials)).toEqual(expect.arrayContaining(sent(response)))
    }
    expect(sent(response)).toContain('retry-after')
    expect(sent(response).length).toBeGreaterThan(1)
  })

  test('reads none of them where they are not exposed', async () => {
    const response = await refusal('draft-11', undefined)
    expect(readable(response, false)).toEqual(expect.arrayContaining(['content-type']))
    for (const name of sent(response)) expect(readable(response, false)).not.toContain(name)
  })

  test('does not read them by *, where there are credentials', async () => {
    const response = await refusal('draft-11', '*')
    expect(readable(response, false)).toContain('retry-after')
    expect(readable(response, true)).not.toContain('retry-after')
  })
})
