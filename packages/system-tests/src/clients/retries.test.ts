import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Report } from './report.ts'
import { type Site, serveClients } from './serve.ts'

let site: Site
let report: Report

beforeAll(async () => {
  site = await serveClients()
  const args = ['--import', 'tsx', join(__dirname, 'worker.mts'), site.url]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 })
  report = JSON.parse(stdout) as Report
})
afterAll(() => site.stop())

const of = (name: string) => report.find((each) => each.name === name) as Report[number]
const requests = (path: string) => site.requests.get(path) ?? 0

/** How early a timer of Node may fire, ms. */
const EARLY = 5

describe('after one 429 with Retry-After: 1 it succeeds, a second later', () => {
  test.each(['got', 'axios-retry', 'axios-retry with exponentialDelay', 'ky', 'undici RetryAgent'])(
    '%s',
    (name) => {
      const { status, ms } = of(name)
      expect(status).toBe(200)
      expect(ms).toBeGreaterThanOrEqual(1000 - EARLY)
      expect(ms).toBeLessThan(1600)
      // The one that took the unit, the refused one, and the retry.
      expect(requests(`/second/${encodeURIComponent(name)}`)).toBe(3)
    },
  )
})

test("octokit's throttling reads the profile legacy and retries", () => {
  const { status, ms } = of('octokit')
  expect(status).toBe(200)
  // It waits until the reset, in whole seconds, and one more.
  expect(ms).toBeGreaterThanOrEqual(1000 - EARLY)
  expect(ms).toBeLessThan(4000)
  expect(requests('/legacy/octokit')).toBe(3)
})

describe('Retry-After 2147483, the longest that is ever sent, is waited for', () => {
  test.each(['got', 'axios-retry'])('%s', (name) => {
    expect(requests(`/forever/${name}`)).toBe(2)
    // With one second more, it came back immediately.
    expect(requests(`/overflow/${name}`)).toBeGreaterThan(2)
  })
})
