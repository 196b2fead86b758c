import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { memoryStore, type RateLimitOptions, rateLimit } from '@sluice/express'
import express from 'express'
import { parseRateLimit } from 'ratelimit-header-parser'

/** 12 s before a window of a minute ends. */
const AT = 1_795_176_048_000
const store = memoryStore({ clock: () => AT })
afterAll(() => store.close())

const PROFILES = {
  'draft-7': 'draft-7',
  'draft-6': 'draft-6',
  'draft-3': 'draft-3',
  legacy: 'legacy',
  'draft-11': 'draft-11',
  'draft-11-and-legacy': ['draft-11', 'legacy'],
  default: undefined,
} as const

let url: string
let stop: () => Promise<unknown>

beforeAll(async () => {
  const app = express()
  for (const [path, headers] of Object.entries(PROFILES)) {
    const options: RateLimitOptions = {
      store,
      prefix: path,
      limit: 10,
      window: '1m',
      algorithm: 'fixed-window',
      ...(headers === undefined ? {} : { headers }),
    }
    app.use(`/${path}`, rateLimit(options), (_, response) => {
      response.end()
    })
  }
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
})
afterAll(() => stop())

async function parsed(profile: keyof typeof PROFILES) {
  const before = Date.now()
  const rateLimit = parseRateLimit(await fetch(`${url}/${profile}`))
  const resetAt = rateLimit?.reset?.getTime() ?? Number.NaN
  return { ...rateLimit, resetAt, before, after: Date.now() }
}

describe('ratelimit-header-parser 0.1.0', () => {
  test.each(['draft-7', 'draft-6', 'draft-3'] as const)('reads %s', async (profile) => {
    const { limit, used, remaining, resetAt, before, after } = await parsed(profile)
    expect({ limit, used, remaining }).toEqual({ limit: 10, used: 1, remaining: 9 })
    // The parser adds 12 s to its own clock, which may have lost a part of a second.
    expect(resetAt).toBeGreaterThan(before + 11_000)
    expect(resetAt).toBeLessThanOrEqual(after + 13_000)
  })

  test('reads legacy', async () => {
    const { limit, used, remaining, reset } = await parsed('legacy')
    expect({ limit, used, remaining }).toEqual({ limit: 10, used: 1, remaining: 9 })
    expect(reset?.getTime()).toBe(AT + 12_000)
  })

  // As docs/recipes.md says: if the parser learns to, correct the page.
  test.each(['draft-11', 'draft-11-and-legacy', 'default'] as const)(
    'does not read %s',
    async (profile) => {
      const { limit, remaining, resetAt } = await parsed(profile)
      expect([limit, remaining, resetAt]).toEqual([Number.NaN, Number.NaN, Number.NaN])
    },
  )
})
