import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Report } from './report.ts'
import { type Site, serveClients } from './serve.ts'

/** What a client did, with the requests that it sent. */
type Found = Report[number] & { readonly requests: number }

let site: Site
const found = new Map<string, Found>()

/** How early a timer of Node may fire, ms. */
const EARLY = 5
/** The clients that read Retry-After: 1 are back about a second later. */
const OF_RETRY_AFTER = [
  'got',
  'axios-retry',
  'axios-retry with exponentialDelay',
  'ky',
  'undici RetryAgent',
]
const CLIENTS = [...OF_RETRY_AFTER, 'octokit']
/** octokit waits until the reset, in whole seconds, and one more. */
const latest = (name: string) => (name === 'octokit' ? 4000 : 1600)

// A stall of the machine shows as a client that is late, or one that is never refused. What a client
// does by itself it does in every run.
beforeAll(async () => {
  for (let run = 1; run <= 8 && !CLIENTS.every(isUndisturbed); run += 1) {
    await site?.stop()
    await measure()
  }
})
afterAll(() => site.stop())

async function measure(): Promise<void> {
  site = await serveClients()
  const args = ['--import', 'tsx', join(__dirname, 'worker.mts'), site.url]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  for (const each of JSON.parse(stdout) as Report) {
    const { name } = each
    const path = name === 'octokit' ? '/legacy/octokit' : `/second/${encodeURIComponent(name)}`
    if (!isUndisturbed(name)) found.set(name, { ...each, requests: requests(path) })
  }
}

const of = (name: string) => found.get(name) as Found
const requests = (path: string) => site.requests.get(path) ?? 0

function isUndisturbed(name: string): boolean {
  const { ms = 0, requests } = found.get(name) ?? {}
  return requests === 3 && ms >= 1000 - EARLY && ms < latest(name)
}

describe('after one 429 with Retry-After: 1 it succeeds, a second later', () => {
  test.each(OF_RETRY_AFTER)('%s', (name) => {
    const { status, ms, requests } = of(name)
    expect(status).toBe(200)
    expect(ms).toBeGreaterThanOrEqual(1000 - EARLY)
    expect(ms).toBeLessThan(latest(name))
    // The one that took the unit, the refused one, and the retry.
    expect(requests).toBe(3)
  })
})

test("octokit's throttling reads the profile legacy and retries", () => {
  const { status, ms, requests } = of('octokit')
  expect(status).toBe(200)
  expect(ms).toBeGreaterThanOrEqual(1000 - EARLY)
  expect(ms).toBeLessThan(latest('octokit'))
  expect(requests).toBe(3)
})

describe('Retry-After 2147483, the longest that is ever sent, is waited for', () => {
  test.each(['got', 'axios-retry'])('%s', (name) => {
    expect(requests(`/forever/${name}`)).toBe(2)
    // With one second more, it came back immediately.
    expect(requests(`/overflow/${name}`)).toBeGreaterThan(2)
  })
})
