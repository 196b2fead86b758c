import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  type OpenOptions,
  useBrowser,
} from '@sluice/test-harness/browser'
import { type Example, startExample } from '@sluice/test-harness/examples'
import { PAGES, pathOf } from './pages.ts'

const browser = useBrowser()
let server: Example
let site: string

beforeAll(async () => {
  // It fails if a link or an anchor leads nowhere.
  const build = ['run', 'docs', '--', 'build']
  await promisify(execFile)('npm', build, { cwd: join(__dirname, '../../..') })
  server = await startExample(__dirname)
  site = `${server.url}/sluice/`
}, 180_000)

afterAll(() => server?.stop())

/** A page of the site that listens to the reader. */
async function open(path: string, options?: OpenOptions) {
  const page = await browser.open(site + path, options)
  await page.waitForFunction(() => '__vue_app__' in document.querySelector('#app')!)
  return page
}

test.each([
  ['the first page', '', 'light', 'desktop'],
  ['the first page on a phone', '', 'dark', 'phone'],
  ['a page of code', 'start/express', 'dark', 'desktop'],
  ['a page of tables', 'decision', 'light', 'phone'],
  ['a page with a picture', 'choosing', 'dark', 'phone'],
] as const)('%s is accessible and fits', async (_, path, scheme, device) => {
  const page = await open(path, { scheme, device })
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
})

test('every page is there without JavaScript too, asks nobody else, and fits on a phone', async () => {
  const page = await browser.open(site, { device: 'phone', javaScript: false })
  for (const path of PAGES.map(pathOf)) {
    const response = await page.goto(site + path)
    expect([path, response?.status()]).toEqual([path, 200])
    await expectNoSidewaysScroll(page)
  }
})

test('the first page shows what it is and the example in one screen', async () => {
  const page = await open('')
  const { height } = page.viewportSize()!
  let above = 0
  for (const what of [
    page.getByRole('heading', { level: 1 }),
    page.getByText('app.listen(3000)'),
    page.getByText('npm install express ioredis'),
  ]) {
    const box = (await what.boundingBox())!
    expect(box.y).toBeGreaterThan(above)
    above = box.y + box.height
  }
  expect(above).toBeLessThan(height)
})

test('the search works by keyboard, without another server', async () => {
  const page = await open('')
  await page.keyboard.press('/')
  await page.getByRole('searchbox').waitFor()
  await page.keyboard.type('retryAfterJitter')
  await page.getByRole('dialog').getByRole('link').first().waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/options#retryafterjitter$/)
})

test('by keyboard: the first stop skips the navigation', async () => {
  const page = await open('start/express')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(new URL(page.url()).hash).toBe('#VPContent')
})

test('the reader can choose light or dark, whatever the system says', async () => {
  const page = await open('options', { scheme: 'light' })
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await page.getByRole('switch').first().click()
  expect(await background()).not.toBe(light)
  await page.reload()
  expect(await background()).not.toBe(light)
})

test('an unknown page says so', async () => {
  const page = await browser.open(`${site}nowhere`, { statuses: [404] })
  await page.getByText('PAGE NOT FOUND').waitFor()
})

test('llms.txt lists every page', async () => {
  const list = await (await fetch(`${site}llms.txt`)).text()
  const links = [...list.matchAll(/^- \[.+\]\(https:\/\/[\w.]+\/sluice\/(.*)\): .+$/gm)]
  expect(links.map(([, path]) => path)).toEqual(PAGES.map(pathOf).slice(1))
  const full = await (await fetch(`${site}llms-full.txt`)).text()
  expect(full).toContain('### SLUICE_STORE_DOWN')
})

describe('the live page', () => {
  test.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)('limits in the browser: %s, %s', async (scheme, device) => {
    const page = await open('live', { scheme, device })
    const requests: string[] = []
    const send = page.getByRole('button', { name: 'Send a request' })
    await send.waitFor()
    page.on('request', (request) => requests.push(request.url()))
    await send.focus()
    await page.keyboard.down('Space')
    const log = page.getByRole('article', { name: 'sliding-log', exact: true })
    await log.locator('.last-response', { hasText: '429' }).waitFor()
    await page.keyboard.up('Space')
    expect(requests).toEqual([])
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  })

  test('is there after a way through the site, and again', async () => {
    const page = await open('')
    const nav = page.getByRole('navigation', { name: 'Main Navigation' })
    for (let i = 0; i < 2; i += 1) {
      await nav.getByRole('link', { name: 'Live' }).click()
      await page.getByRole('button', { name: 'Send a request' }).click()
      await page.getByText('9 remaining').first().waitFor()
      await nav.getByRole('link', { name: 'Guides' }).click()
      await page.getByRole('heading', { name: 'The five algorithms' }).waitFor()
    }
  })
})
