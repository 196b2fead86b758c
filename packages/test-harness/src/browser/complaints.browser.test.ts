import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { watch } from './complaints.ts'
import { launch } from './launch.ts'

let browser: Browser
let server: Server
let url: string
let context: BrowserContext
let page: Page
let complaints: readonly string[]

beforeAll(async () => {
  browser = await launch()
  server = createServer((request, response) => {
    response.statusCode = request.url === '/refused' ? 429 : 200
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>A page</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

afterAll(async () => {
  await browser?.close()
  await new Promise((resolve) => server.close(resolve))
})

async function open(statuses: number[] = []): Promise<void> {
  context = await browser.newContext()
  complaints = watch(context, url, statuses)
  page = await context.newPage()
  await page.goto(url)
}

beforeEach(() => open())
afterEach(() => context.close())

test('a page that does nothing wrong has none', () => {
  expect(complaints).toEqual([])
})

test('an error in the console', async () => {
  await page.evaluate(() => console.error('it broke'))
  expect(complaints).toEqual(['console: it broke'])
})

test('an error of a script', async () => {
  const reported = context.waitForEvent('weberror')
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error('thrown')
    })
  })
  await reported
  expect(complaints).toEqual(['error: thrown'])
})

test('a request to another origin, which is stopped', async () => {
  const failed = await page.evaluate(() => fetch('http://other.invalid/x').catch(() => 'stopped'))
  expect(failed).toBe('stopped')
  expect(complaints).toContain('request: http://other.invalid/x')
})

test('a page from a file that asks for another file', async () => {
  await context.close()
  context = await browser.newContext()
  const own = new URL(import.meta.url).href
  complaints = watch(context, own, [])
  page = await context.newPage()
  await page.goto(own)
  await page.setContent('<img src="file:///nowhere.png">')
  expect(complaints).toContain('request: file:///nowhere.png')
})

test('a refusal, unless it was expected', async () => {
  await page.evaluate(() => fetch('/refused').then((response) => response.text()))
  expect(complaints).toEqual([expect.stringContaining('status of 429')])
  await context.close()
  await open([429])
  await page.evaluate(() => fetch('/refused').then((response) => response.text()))
  expect(complaints).toEqual([])
})
