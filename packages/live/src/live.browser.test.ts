import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  type OpenOptions,
  picture,
  useBrowser,
} from '@sluice/test-harness/browser'
import { type Program, startExample } from '@sluice/test-harness/examples'
import { until } from '@sluice/test-harness/redis'
import { type Algorithm, algorithms, CONCURRENT, LIMIT } from './limits.ts'

const browser = useBrowser()
let server: Program

beforeAll(async () => {
  server = await startExample(__dirname)
})

afterAll(() => server?.stop())

type Page = Awaited<ReturnType<typeof browser.open>>

/** The page, on which refusals are no faults: the browser reports each as an error of its own. */
async function open(options: OpenOptions = {}): Promise<Page> {
  const page = await browser.open(server.url, { ...options, statuses: [429] })
  await sendButton(page).waitFor()
  return page
}

const sendButton = (page: Page) => page.getByRole('button', { name: 'Send a request' })
const patternButton = (page: Page, name: string) => page.getByRole('button', { name })
const lane = (page: Page, algorithm: Algorithm) =>
  page.getByRole('article', { name: algorithm, exact: true })
const rows = (page: Page) => page.locator('tbody tr')

/** The most that the lane says it has admitted within a window. */
async function mostOf(page: Page, algorithm: Algorithm): Promise<number> {
  return Number(await lane(page, algorithm).locator('.most strong').textContent())
}

/** Requests that the page has sent, by what it draws of them. */
const sentBy = (page: Page) => page.locator('.requests .sent').count()

/** The page summarises the requests once none has come for a while. */
const rests = async (page: Page) =>
  page.getByText(`${await sentBy(page)} requests. Admitted by`).waitFor()

const eventually = (condition: () => Promise<boolean>, what: string) =>
  until(condition, { everyMs: 20, what })

/** The part of the page that a picture shows, down to the last lane. */
const ALL_LANES = { fullPage: true, clip: { x: 0, y: 0, width: 1280, height: 1080 } }

test('a click sends one request to each, and shows the fields that came back', async () => {
  const page = await open()
  const answers: Promise<Record<string, string>>[] = []
  page.on('response', (response) => {
    if (response.url().includes('/try/')) answers.push(response.allHeaders())
  })
  await sendButton(page).click()
  await eventually(async () => (await rows(page).count()) === algorithms.length, 'all answered')
  const shown = await rows(page).allInnerTexts()
  for (const fields of await Promise.all(answers)) {
    const values = [fields['ratelimit-policy'], fields.ratelimit, fields['ratelimit-remaining']]
    expect(shown).toContainEqual(expect.stringMatching(values.join('.*')))
  }
  expect(answers).toHaveLength(algorithms.length)
  // The log keeps a request for a whole window; a fixed window may end at any moment.
  const words = lane(page, 'sliding-log').locator('figcaption')
  expect(await words.textContent()).toContain(`1 of ${LIMIT} in the last`)
})

test('Retry-After runs down, and then a request is admitted', async () => {
  const page = await open()
  const log = lane(page, 'sliding-log')
  await sendButton(page).focus()
  await page.keyboard.down('Space')
  await log.getByText('Retry-After').waitFor()
  await page.keyboard.up('Space')

  const left = async () => Number.parseFloat((await log.locator('.wait').textContent())!.slice(5))
  const first = await left()
  // Where it has ended meanwhile, it is no number.
  await eventually(async () => !((await left()) >= first), 'the countdown runs')
  await log.getByText('retry now').waitFor()
  await page.keyboard.press('Space')
  await log.locator('.last-response', { hasText: '200' }).waitFor()
})

test('concurrency: the slots are in use while requests are in progress, and free afterwards', async () => {
  const page = await open()
  const slots = lane(page, 'concurrency')
  await slots.getByText(`0 of ${CONCURRENT} in progress`).waitFor()
  await sendButton(page).hover()
  await page.mouse.down()
  await slots.getByText(`${CONCURRENT} of ${CONCURRENT} in progress`).waitFor()
  await slots.locator('.last-response', { hasText: '429' }).waitFor()
  await page.mouse.up()
  await slots.getByText(`0 of ${CONCURRENT} in progress`).waitFor()
  expect(await mostOf(page, 'concurrency')).toBeLessThanOrEqual(CONCURRENT)
  await sendButton(page).click()
  await slots.locator('.last-response', { hasText: `${CONCURRENT - 1} remaining` }).waitFor()
})

test('by keyboard: a key sends, and keeps sending while it is held', async () => {
  const page = await open()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  // A slow machine holds the key for so long that it sends again.
  await eventually(async () => (await sentBy(page)) >= 1, 'it sends')
  const pressed = await sentBy(page)
  await page.keyboard.down('Space')
  await eventually(async () => (await sentBy(page)) >= pressed + 3, 'it goes on')
  await page.keyboard.up('Space')
  await rests(page)
})

test('by mouse: it keeps sending while the button is held, and stops outside of it', async () => {
  const page = await open()
  await sendButton(page).hover()
  await page.mouse.down()
  await eventually(async () => (await sentBy(page)) >= 3, 'it goes on')
  await page.mouse.move(0, 0)
  await rests(page)
  await page.mouse.up()
})

test('a pattern starts and stops by its button, and stops for manual requests', async () => {
  const page = await open()
  const steady = patternButton(page, 'Steady')
  const isPressed = async () => (await steady.getAttribute('aria-pressed')) === 'true'
  await steady.press('Enter')
  await eventually(async () => (await sentBy(page)) >= 2, 'it sends')
  expect(await isPressed()).toBe(true)
  await steady.press('Enter')
  expect(await isPressed()).toBe(false)
  await rests(page)
  await steady.click()
  await sendButton(page).click()
  expect(await isPressed()).toBe(false)
})

test('tabs are separate clients, and a fresh start makes another one', async () => {
  const [one, other] = [await open(), await open()]
  const remaining = (page: Page) =>
    lane(page, 'sliding-log').locator('.last-response').textContent()
  const admits = (page: Page, left: number) =>
    eventually(
      async () => (await remaining(page))!.includes(`${left} remaining`),
      `${left} are left`,
    )
  await sendButton(one).click()
  await sendButton(one).click()
  await admits(one, LIMIT - 2)
  await sendButton(other).click()
  await admits(other, LIMIT - 1)
  await one.getByRole('button', { name: 'Start again' }).click()
  expect(await sentBy(one)).toBe(0)
  await sendButton(one).click()
  await admits(one, LIMIT - 1)
})

/** Plays the pattern, as often as a busy machine sends the first half so late that it comes after the edge. */
async function playEdge(page: Page, press: 'click' | 'tap'): Promise<void> {
  let fixed = 0
  for (let tries = 0; tries < 3 && fixed <= 1.3 * LIMIT; tries += 1) {
    if (tries > 0) await page.getByRole('button', { name: 'Start again' })[press]()
    await patternButton(page, 'Edge of a window')[press]()
    await page.getByText(`${2 * LIMIT} requests. Admitted by`).waitFor()
    fixed = await mostOf(page, 'fixed-window')
  }
  expect(fixed).toBeGreaterThan(1.3 * LIMIT)
  // How many depends on how long the burst takes.
  expect(await mostOf(page, 'sliding-window')).toBeLessThan(fixed)
  expect(await mostOf(page, 'sliding-log')).toBe(LIMIT)
  expect(await mostOf(page, 'token-bucket')).toBeLessThan(fixed)
  expect(await mostOf(page, 'leaky-bucket')).toBeLessThan(fixed)
  expect(await mostOf(page, 'concurrency')).toBeLessThanOrEqual(CONCURRENT)
  await expectNoSidewaysScroll(page)
}

test('at the edge of a window only the fixed window admits far more than the limit', async () => {
  const [desktop, phone] = [await open(), await open({ device: 'phone' })]
  await expectAccessible(desktop)
  await Promise.all([playEdge(desktop, 'click'), playEdge(phone, 'tap')])
  await picture(desktop, 'live-light.png', ALL_LANES)
  await picture(phone, 'live-phone.png')
  await expectAccessible(desktop)
  await expectAccessible(phone)
  // Colours depend on the scheme alone.
  await desktop.emulateMedia({ colorScheme: 'dark' })
  await picture(desktop, 'live-dark.png', ALL_LANES)
  await expectAccessible(desktop)
})

test('with motion the drawings go on by themselves', async () => {
  const page = await open()
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  const drawn = () => page.locator('.requests .strip g').getAttribute('transform')
  const first = await drawn()
  await eventually(async () => (await drawn()) !== first, 'time moves the drawing')
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 })
    expect(await page.evaluate(labelsCut)).toEqual([])
  }
})

/** The labels of windows' edges of which a part is outside of their lane, among those in sight. */
function labelsCut(): string[] {
  const lane = document.querySelector('.timeline.requests')!.getBoundingClientRect()
  const labels = [...document.querySelectorAll<HTMLElement>('.edge-label')]
  const inSight = labels.filter((each) => getComputedStyle(each).visibility === 'visible')
  if (inSight.length === 0) return ['none is in sight']
  return inSight.flatMap((each) => {
    const { left, right } = each.getBoundingClientRect()
    return left >= lane.left - 1 && right <= lane.right + 1 ? [] : [`${left} … ${right}`]
  })
}
