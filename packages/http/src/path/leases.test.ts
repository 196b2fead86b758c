// A limiter over HTTP whose requests are decided from leases.

import { expect, test } from '@jest/globals'
import { failingStore } from '@sluice/core/testing'
import { type PlainOptions, servePlain } from '../testing/plain-server.ts'

test('a leased request has the fields of a request that the store has decided', async () => {
  const store = failingStore()
  const sources: string[] = []
  const options: PlainOptions = {
    store,
    limit: 100,
    window: '1d',
    algorithm: 'sliding-log',
    lease: '10s',
    onDecision: ({ source }) => sources.push(source),
  }
  const server = await servePlain([options], (_, response) => void response.end('served'))
  const remaining: number[] = []
  for (let i = 0; i < 101; i += 1) {
    const { status, headers } = await server.send()
    const [, left] = /r=(\d+)/.exec(headers.ratelimit as string) ?? []
    remaining.push(Number(left))
    expect(status).toBe(i < 100 ? 200 : 429)
  }
  await server.stop()
  expect(remaining).toEqual([...Array.from({ length: 100 }, (_, i) => 99 - i), 0])
  expect(sources.filter((source) => source === 'lease').length).toBeGreaterThan(50)
  expect(sources.at(-1)).toBe('store')
})
