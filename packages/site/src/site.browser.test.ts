import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  type Locator,
  type OpenOptions,
  type Page,
  picture,
  useBrowser,
} from '@sluice/test-harness/browser'
import { type Program, startExample } from '@sluice/test-harness/examples'
import { until } from '@sluice/test-harness/redis'
import { skills } from './llms.ts'
import { faintCode, setScheme, textOutside } from './page/faults.ts'
import { PAGES, pathOf } from './pages.ts'
import { QUESTIONS } from './testing/questions.ts'

const browser = useBrowser()
let server: Program
let site: string

beforeAll(async () => {
  // It fails if a link or an anchor leads nowhere.
  const build = ['start', '--', 'site', 'build']
  await promisify(execFile)('npm', build, { cwd: join(__dirname, '../../..') })
  server = await startExample(__dirname)
  site = `${server.url}/sluice/`
})

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
    page.getByText('app.listen(3000)').first(),
    page.getByText('npm install express ioredis'),
  ]) {
    const box = (await what.boundingBox())!
    expect(box.y).toBeGreaterThan(above)
    above = box.y + box.height
  }
  expect(above).toBeLessThan(height)
})

test('a module system and a package manager are chosen once, for all pages', async () => {
  const page = await open('start/express')
  await page.getByText('CommonJS: server.cjs').click()
  await page.locator('label', { hasText: 'pnpm' }).click()
  const visible = async () => {
    await page.getByText('pnpm add').first().waitFor()
    const blocks = await page.locator('.vp-code-group [class*=language-].active').allInnerTexts()
    return blocks.join('\n')
  }
  const shown = await visible()
  expect(shown).toContain("require('express')")
  expect(shown).toContain('node server.cjs')
  await page.getByRole('link', { name: 'Koa', exact: true }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Koa' }).waitFor()
  expect(await visible()).toContain("require('koa')")
  await page.reload()
  expect(await visible()).toContain("require('koa')")
  await expectAccessible(page)
})

/** A picture of every page in each size and theme is written into this folder, for those who want to look at them. */
const PICTURES = process.env.SLUICE_PAGE_PICTURES

/** A phone, and the narrowest with a table of contents. Between them and beyond, a page has more room. */
const WIDTHS = PICTURES ? [390, 768, 820, 1440] : [390, 820]

test('every page keeps its text in its boxes at every width, and its code can be read in both themes', async () => {
  const page = await open('')
  const faults: Record<string, readonly string[]> = {}
  for (const path of PAGES.map(pathOf)) {
    await page.goto(site + path)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      await expectNoSidewaysScroll(page)
      const outside = await page.evaluate(textOutside)
      if (outside.length > 0) faults[`${path}, ${width} px`] = outside
      for (const scheme of PICTURES ? (['light', 'dark'] as const) : []) {
        await page.evaluate(setScheme, scheme)
        const name = `${path.replaceAll('/', '-') || 'home'}-${width}-${scheme}.png`
        await page.screenshot({ path: join(PICTURES as string, name), fullPage: true })
      }
    }
    for (const scheme of ['dark', 'light'] as const) {
      await page.evaluate(setScheme, scheme)
      const faint = await page.evaluate(faintCode)
      if (faint.length > 0) faults[`${path}, ${scheme}`] = faint
    }
  }
  expect(faults).toEqual({})
})

test('a table with long cells is a list on a phone, whose names stand above their values', async () => {
  const page = await open('places/proxies', { device: 'phone' })
  const cells = page.locator('table.prose').first().locator('tbody tr').first().locator('td')
  const [name, value] = await Promise.all([cells.nth(0).boundingBox(), cells.nth(1).boundingBox()])
  expect(name!.y + name!.height).toBeLessThanOrEqual(value!.y)
  await expectInSight(cells.nth(0), 2000)
})

/** Screens on which the layout of pages is checked. */
const SCREENS = [
  ['desktop', { width: 1280, height: 800 }],
  ['phone', { width: 390, height: 844 }],
] as const

describe.each(SCREENS)('on a %s', (device, size) => {
  async function openHere(path: string) {
    const page = await browser.open(site + path, { device })
    await page.setViewportSize(size)
    await page.waitForFunction(() => '__vue_app__' in document.querySelector('#app')!)
    return page
  }

  test('the first screen has the mark, the sentence and a button', async () => {
    const page = await openHere('')
    await expectNoSidewaysScroll(page)
    const parts = [
      page.getByRole('heading', { name: 'Sluice', level: 1 }),
      page.getByText('Rate limiting for Node').first(),
      page.getByRole('link', { name: 'Start in five minutes' }).first(),
      page.getByText(/^v\d+\.\d+\.\d+$/),
    ]
    for (const part of parts) await expectInSight(part, size.height)
    const isDrawn = (image: SVGElement | HTMLElement) =>
      (image as HTMLImageElement).naturalWidth > 0
    expect(await page.locator('.VPNavBarTitle img').evaluate(isDrawn)).toBe(true)
  })

  test('below are the limiters, the comparison and a chart, in less than 6,500 px', async () => {
    const page = await openHere('')
    await page.locator('#playing').scrollIntoViewIfNeeded()
    const lanes = page.getByRole('article')
    await lanes.first().waitFor()
    expect(await lanes.count()).toBe(6)
    await page.getByRole('row', { name: 'koa-ratelimit no no no no no' }).waitFor()
    await page.getByRole('img', { name: /^Node.s CPU time/ }).waitFor()
    expect(await heightOf(page)).toBeLessThan(6500)
    await expectNoSidewaysScroll(page)
  })

  test('the figures begin with what a limit costs, and the chart can be read', async () => {
    const page = await openHere('performance')
    const table = page.locator('.vp-doc table').first()
    await table.waitFor()
    expect((await table.boundingBox())!.y).toBeLessThan(size.height / 2)
    const charts = await page.locator('.vp-doc picture img').all()
    expect(charts).toHaveLength(2)
    for (const chart of charts) {
      await chart.scrollIntoViewIfNeeded()
      const { width } = (await chart.boundingBox())!
      // As wide as drawn, or not much less: its text is readable.
      const drawn = await chart.evaluate((image) => (image as HTMLImageElement).naturalWidth)
      expect(width / drawn).toBeGreaterThan(0.7)
    }
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  })

  test('the live page shows more than one lane after a click', async () => {
    const page = await openHere('live')
    await page.getByRole('button', { name: 'Send a request' }).click()
    // A click that takes long on a busy machine holds the button, which sends more than one.
    await page
      .getByText(/\d remaining/)
      .first()
      .waitFor()
    for (const lane of (await page.getByRole('article').all()).slice(0, 2))
      await expectInSight(lane, size.height)
    await expectNoSidewaysScroll(page)
  })
})

test('a page says what others show of it', async () => {
  const page = await open('options')
  const contents = (attribute: string, name: string) =>
    page.locator(`meta[${attribute}="${name}"]`).getAttribute('content')
  expect(await contents('property', 'og:title')).toBe('Options | Sluice')
  expect(await contents('property', 'og:description')).toMatch(/^Every option/)
  expect(await contents('property', 'og:url')).toMatch(/\/sluice\/options$/)
  const card = new URL((await contents('property', 'og:image'))!)
  const icon = (await page.locator('link[rel=icon]').getAttribute('href'))!
  for (const path of [card.pathname, icon])
    expect((await fetch(new URL(path, server.url))).status).toBe(200)
})

test('the first page makes a picture for links to it', async () => {
  const page = await open('', { device: 'phone' })
  // Twice as many pixels: 1200 × 630.
  await page.setViewportSize({ width: 600, height: 315 })
  await expectInSight(page.getByText('Rate limiting for Node').first(), 315)
  await picture(page, 'social.png')
})

test('the limiters of the first page play while they are in sight, until the reader stops them', async () => {
  const page = await browser.open(site)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.reload()
  const place = page.locator('#playing')
  await place.scrollIntoViewIfNeeded()
  await page.getByText('429').first().waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Play' }).waitFor()
  const isOver = async () => (await place.locator('.planned').count()) === 0
  await until(isOver, { what: 'nothing is planned' })
  await page.getByRole('button', { name: 'Play' }).click()
  await page.getByRole('button', { name: 'Send a request' }).click()
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await expectAccessible(page)
})

async function expectInSight(part: Locator, height: number): Promise<void> {
  const box = (await part.boundingBox())!
  expect(box.y).toBeGreaterThanOrEqual(0)
  expect(box.y + box.height).toBeLessThanOrEqual(height)
}

const heightOf = (page: Page) => page.evaluate(() => document.documentElement.scrollHeight)

test('the search works by keyboard, without another server', async () => {
  const page = await open('')
  await page.keyboard.press('/')
  await page.getByRole('searchbox').waitFor()
  await page.keyboard.type('retryAfterJitter')
  await page.getByRole('dialog').getByRole('link').first().waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/options-http#retryafterjitter$/)
})

test('the search answers what readers ask, among its first three results', async () => {
  const page = await open('')
  await page.keyboard.press('/')
  const input = page.getByRole('searchbox')
  const results = page.getByRole('dialog').locator('a.result')
  const unanswered: Record<string, readonly string[]> = {}
  for (const [question, answer] of QUESTIONS) {
    await input.fill('')
    await results.first().waitFor({ state: 'detached' })
    await input.fill(question)
    await results.first().waitFor()
    const found = await results.evaluateAll((links) =>
      links.slice(0, 3).map((link) => (link as HTMLAnchorElement).href),
    )
    const places = found.map((href) => href.slice(site.length))
    const isAnswered = places.some((place) => [place, place.split('#')[0]].includes(answer))
    if (!isAnswered) unanswered[question] = places
  }
  expect(unanswered).toEqual({})
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

test('llms.txt lists every page and skill, which the site has', async () => {
  const list = await (await fetch(`${site}llms.txt`)).text()
  const links = [...list.matchAll(/^- \[.+\]\(https:\/\/[\w.]+\/sluice\/(.*)\): .+$/gm)]
  const files = skills().map(({ path }) => path)
  expect(links.map(([, path]) => path)).toEqual([...PAGES.map(pathOf).slice(1), ...files])
  for (const path of files) expect(await (await fetch(site + path)).text()).toMatch(/^---\nname: /)
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
    page.on('request', (request) => {
      // The site itself may load pages that its links lead to.
      if (['fetch', 'xhr'].includes(request.resourceType())) requests.push(request.url())
    })
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
      // Where a click takes longer than an eighth of a second, it sends several.
      await page
        .getByText(/\b\d remaining/)
        .first()
        .waitFor()
      await nav.getByRole('link', { name: 'Guides' }).click()
      await page.getByRole('heading', { name: 'I want to …' }).waitFor()
    }
  })
})
