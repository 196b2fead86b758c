import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from '@jest/globals'
import { type PlainOptions, type PlainServer, servePlain } from '../testing/plain-server.ts'

const TERMS = { limit: 2, window: '1d', algorithm: 'fixed-window' } as const

let server: PlainServer
afterEach(() => server.stop())

/** The rate-limit fields of the second response, which takes the last unit. */
async function lastFields(
  options: Partial<PlainOptions>,
  respond: (response: ServerResponse) => void,
): Promise<string[]> {
  server = await servePlain([{ ...TERMS, ...options } as PlainOptions], (_, response) =>
    respond(response),
  )
  const first = await server.send()
  expect(Object.keys(first.headers)).toContain(first.headers.ratelimit ? 'ratelimit' : 'date')
  const { headers } = await server.send()
  return Object.keys(headers).filter((name) => /ratelimit|retry-after/.test(name))
}

const ALL = [
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-policy',
  'ratelimit-remaining',
  'ratelimit-reset',
]

const ways: Record<string, (status: number) => (response: ServerResponse) => void> = {
  'by statusCode': (status) => (response) => {
    response.statusCode = status
    response.end()
  },
  'by writeHead': (status) => (response) => {
    response.writeHead(status, { Location: '/elsewhere' }).end()
  },
  'by writeHead with a reason': (status) => (response) => {
    response.writeHead(status, 'Because', ['Location', '/elsewhere']).end()
  },
  'by flushHeaders': (status) => (response) => {
    response.statusCode = status
    response.flushHeaders()
    response.end()
  },
}

describe.each(Object.keys(ways))('the last unit, %s', (way) => {
  const respond = ways[way] as (status: number) => (response: ServerResponse) => void

  test.each([300, 301, 302, 303, 304, 307, 308])(
    '%i carries the policies, but not what is left',
    async (status) => {
      expect(await lastFields({}, respond(status))).toEqual(['ratelimit-policy'])
    },
  )

  test.each([200, 204, 299, 400, 404, 500])('%i carries all of it', async (status) => {
    expect(await lastFields({}, respond(status))).toEqual(ALL)
  })
})

test.each(['legacy', 'draft-3', 'draft-6', 'draft-7'] as const)('%s: the same', async (headers) => {
  const fields = await lastFields({ headers }, (response) => response.writeHead(302).end())
  expect(fields).toEqual(headers === 'legacy' || headers === 'draft-3' ? [] : ['ratelimit-policy'])
})

test('with units left a redirect carries all of it', async () => {
  const fields = await lastFields({ limit: 3 }, (response) => response.writeHead(302).end())
  expect(fields).toEqual(ALL)
})

test('fields of the application are not touched', async () => {
  const fields = await lastFields({}, (response) =>
    response.writeHead(302, { 'Retry-After': '5' }).end(),
  )
  expect(fields).toEqual(['ratelimit-policy', 'retry-after'])
})

test('of two limiters one is exhausted: the joined fields are removed', async () => {
  const more = { ...TERMS, limit: 9, headers: ['draft-11', 'draft-6', 'legacy'] } as const
  server = await servePlain([TERMS, more], (_, response) => response.writeHead(302).end())
  expect((await server.send()).headers).toHaveProperty('ratelimit')
  const { headers } = await server.send()
  expect(headers).not.toHaveProperty('ratelimit')
  expect(headers).not.toHaveProperty('ratelimit-remaining')
  // Only the second limiter writes this one, with what the first has left.
  expect(headers).not.toHaveProperty('x-ratelimit-remaining')
  expect(headers['ratelimit-policy']).toMatch(/^"default";q=2;w=86400, "default-2";q=9;w=86400$/)
})
