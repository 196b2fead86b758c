import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter, type Limiter, redisStore } from '@sluice/core'
import { reset } from '@sluice/core/testing'
import { fakeTerminal } from '@sluice/terminal/testing/fake-terminal'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  type Locator,
  type OpenOptions,
  type Page,
  useBrowser,
} from '@sluice/test-harness/browser'
import { patient, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { connect } from '../connect.ts'
import type { Connection } from '../connection.ts'
import { serveCommand } from './serve-command.ts'
import type { Snapshot } from './store-watch.ts'

const browser = useBrowser()
const interrupt = new AbortController()
const long = 'x'.repeat(200)
let redis: RedisServer
let connection: Connection
let serving: Promise<unknown>
let address: string

beforeAll(async () => {
  redis = await startRedis()
  connection = await connect({ redis: redis.url })
  const io = fakeTerminal(false)
  const flags = { prefix: 'sluice', host: '127.0.0.1', port: '0', every: '100ms', ipv6Prefix: '56' }
  serving = serveCommand(flags, connection, io, interrupt.signal)
  await io.shows(/\n/)
  address = io.out().trim()
})
afterAll(async () => {
  interrupt.abort()
  await serving
  connection.close()
  await redis.stop()
})
beforeEach(async () => {
  await redis.command('FLUSHALL')
  reset()
  const limiter = limiterOf()
  await limiter.consume('203.0.113.7', { cost: 100 })
  await limiter.consume('user:42', { cost: 85 })
  await limiter.consume(long, { cost: 50 })
  await limiter.consume('user:7')
})

const limiterOf = () =>
  createLimiter({ ...patient, store: connection.store, limit: 100, window: '1d' })

async function open(options: OpenOptions = {}): Promise<Page> {
  const page = await browser.open(address, options)
  await row(page, '203.0.113.7').waitFor()
  return page
}

const row = (page: Page, client: string) =>
  page.locator('tbody tr', { has: page.getByRole('rowheader', { name: client, exact: true }) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Opens a client's menu and chooses from it. */
async function choose(page: Page, action: string, client: string): Promise<void> {
  await button(page, `Actions for ${client}`).click()
  await button(page, `${action} ${client}`).click()
}

const remaining = async (key: string) => (await limiterOf().peek(key)).remaining

const eventually = (condition: () => Promise<boolean>, what: string) =>
  until(condition, { everyMs: 20, what })

test('the clients stand in the order of their limits, and the counts with them', async () => {
  const page = await open()
  const clients = await page.locator('tbody th').allTextContents()
  expect(clients).toEqual(['203.0.113.7', 'user:42', expect.stringMatching(/^#.*digest/), 'user:7'])
  expect(await page.locator('.counts').textContent()).toMatch(/keys4at their limit1near it1/)
  await eventually(
    async () => /Now: 1 of 4/.test((await page.locator('main').textContent())!),
    'the chart',
  )
  expect(await page.locator('.servers').textContent()).toMatch(/master.*answers in .* ms/)
})

test('a client is reset when the question is answered, not before', async () => {
  const page = await open()
  await choose(page, 'Reset', '203.0.113.7')
  await button(page, 'Cancel').click()
  expect(await remaining('203.0.113.7')).toBe(0)
  await choose(page, 'Reset', '203.0.113.7')
  await button(page, 'reset').click()
  await page.getByText('reset 203.0.113.7: done in 1 policy').waitFor()
  expect(await remaining('203.0.113.7')).toBe(100)
  await row(page, '203.0.113.7').waitFor({ state: 'detached' })
})

test('a question stays open when the event of the one before it comes late', async () => {
  const page = await open()
  await choose(page, 'Reset', '203.0.113.7')
  await page.locator('dialog').dispatchEvent('close')
  await button(page, 'reset').click()
  await page.getByText('reset 203.0.113.7: done').waitFor()
})

test('by keyboard: a client is blocked for a day and unblocked', async () => {
  const page = await open()
  const menu = button(page, 'Actions for user:42')
  const hasFocus = (found: Locator) =>
    found.evaluate((element) => element === document.activeElement)
  await menu.press('Enter')
  await page.keyboard.press('Escape')
  expect([await hasFocus(menu), await button(page, 'Block user:42').isVisible()]).toEqual([
    true,
    false,
  ])
  await menu.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  expect(await hasFocus(button(page, 'Block user:42'))).toBe(true)
  await page.keyboard.press('Enter')
  await page.getByLabel('How long').selectOption('1d')
  await page.keyboard.press('Escape')
  expect(await remaining('user:42')).toBe(15)
  await eventually(() => hasFocus(menu), 'the focus is where it was')
  await menu.press('Enter')
  await button(page, 'Block user:42').press('Enter')
  await page.getByLabel('How long').selectOption('1d')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await row(page, 'user:42').getByText('blocked for 23 h').waitFor()
  await menu.press('Enter')
  await button(page, 'Unblock user:42').press('Enter')
  await eventually(() => hasFocus(button(page, 'unblock')), 'the question has the focus')
  await page.keyboard.press('Enter')
  await page.getByText('unblock user:42: done').waitFor()
  expect(await remaining('user:42')).toBe(100)
})

test('a client gets a limit of its own, and loses it', async () => {
  const page = await open()
  const policy = 'default'
  await choose(page, `Limit ${policy}`, 'user:42')
  await page.getByLabel('Units').fill('250')
  await button(page, 'limit').click()
  await page.getByText('limit user:42 in default: done in 1 policy').waitFor()
  expect(await limiterOf().peek('user:42')).toMatchObject({ limit: 250, remaining: 165 })
  await page.getByLabel('Address, network or key').fill('user:42')
  await button(page, 'Find').click()
  const found = page.getByRole('article', { name: 'The client' })
  await found.getByText('own limit until').waitFor()
  await found.getByRole('button', { name: 'Actions for user:42' }).click()
  await found.getByRole('button', { name: `End the limit of ${policy} user:42` }).click()
  await button(page, 'end').click()
  await page.getByText('end the limit of user:42 in default: done in 1 policy').waitFor()
  expect(await remaining('user:42')).toBe(15)
})

test('a client that the store keeps as a digest is found by its key, and reset', async () => {
  const page = await open()
  await page.getByLabel('Address, network or key').fill(long)
  await page.keyboard.press('Enter')
  const found = page.getByRole('article', { name: 'The client' })
  await found.getByText('50 used, 50 left').waitFor()
  await choose(page, 'Reset', long)
  await button(page, 'reset').click()
  await found.getByText('Nothing is counted').waitFor()
  expect(await remaining(long)).toBe(100)
})

test('a key is text, whatever it says', async () => {
  const evil = '<img/src=x/onerror=alert(1)>'
  await limiterOf().consume(evil, { cost: 99 })
  const page = await open()
  await row(page, evil).waitFor()
  await page.getByLabel('Address, network or key').fill('<b>\u202enobody')
  await page.keyboard.press('Enter')
  await page.getByRole('article').getByText('<b>\\u202enobody').waitFor()
  expect(await page.locator('main img, main h3 b').count()).toBe(0)
})

describe('a live policy', () => {
  let client: Redis
  let live: Limiter<'async'>
  beforeEach(async () => {
    // An application of its own: it has noted nothing that a test before has flushed.
    client = new Redis(redis.url)
    const store = redisStore(client)
    live = createLimiter({ ...patient, store, name: 'api', limit: 5, window: '1h', live: true })
    await live.consume('user:42', { cost: 5 })
    await live.consume('user:7')
    for await (const { prefix } of store.inspect()) expect(prefix).toBe('sluice')
  })
  afterEach(() => {
    live.close()
    client.disconnect()
  })

  const card = (page: Page) => page.getByRole('article', { name: 'Policy api' })
  async function ask(page: Page, action: string): Promise<void> {
    await button(page, 'Actions for the policy api').click()
    await button(page, `${action} api`).click()
  }

  test('shows what is in force and who is refused, and changes when the question is answered', async () => {
    const page = await open()
    await card(page).getByText('5 per 1 h (sliding-window)').waitFor()
    await card(page).getByText('1 of 2 clients with nothing left, 1 refused').waitFor()
    await ask(page, 'Limit')
    await page.getByLabel('Units').fill('50')
    await button(page, 'Cancel').click()
    await ask(page, 'Limit')
    expect(await page.getByLabel('Units').inputValue()).toBe('5')
    await page.getByLabel('Units').fill('50')
    await page.getByLabel('How long').selectOption('1d')
    await page.getByLabel('Changed by').fill('ada')
    await button(page, 'change it').click()
    await page.getByText('limit of api: done, change 1').waitFor()
    await card(page).getByText('50 per 1 h (sliding-window; 5 in the code)').waitFor()
    await card(page)
      .getByText(/set: limit 50, until/)
      .waitFor()
    await card(page)
      .getByText(/last change: 1, set by ada \(page on/)
      .waitFor()
    await card(page).getByText('2 clients counted, none with nothing left').waitFor()
    await eventually(async () => (await live.peek('user:42')).limit === 50, 'it is taken over')
  })

  test('is a dry run, is enforced for a share, and goes back to the code and to a change before', async () => {
    const page = await open()
    await ask(page, 'Dry run')
    await button(page, 'change it').click()
    await card(page).getByText('5 per 1 h (sliding-window), a dry run').waitFor()
    await card(page).getByText('1 would be refused').waitFor()
    await ask(page, 'Enforce a share')
    await page.getByLabel('Percent of the clients').fill('25')
    await button(page, 'change it').click()
    await card(page).getByText('refuses 25 % of the clients').waitFor()
    await ask(page, 'Back to the code')
    await button(page, 'change it').click()
    await card(page).getByText('as in the code', { exact: true }).waitFor()
    await page.getByText('The last changes').click()
    await button(page, 'Undo change 2').click()
    await page.getByRole('dialog').getByText('api: as in the code → dry run').waitFor()
    await button(page, 'change it').click()
    await page.getByText('undo change 2: done, change 4').waitFor()
    await card(page).getByText('5 per 1 h (sliding-window), a dry run').waitFor()
    const [state] = await live.policies.list()
    expect(state).toMatchObject({ enforced: 0, settings: { dryRun: true } })
  })

  test('that somebody else has changed meanwhile stays so, and the page says who it was', async () => {
    const page = await open({ statuses: [400] })
    await ask(page, 'Limit')
    await page.getByLabel('Units').fill('50')
    const by = '<img/src=x/onerror=alert(1)>'
    await live.policies.set('api', { limit: 9 }, { by })
    await button(page, 'change it').click()
    await page.getByRole('status').getByText(`1, by ${by}`).waitFor()
    await card(page).getByText('9 per 1 h').waitFor()
    await card(page).getByText(`set by ${by}`).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect((await live.peek('user:42')).limit).toBe(9)
  })

  test.each([
    ['light', { scheme: 'light', device: 'desktop' }],
    ['dark', { scheme: 'dark', device: 'desktop' }],
    ['phone', { scheme: 'light', device: 'phone' }],
  ] as const)('is accessible, with its question, and fits: %s', async (_, options) => {
    const note = { by: 'x'.repeat(100) }
    await live.policies.set('api', { limit: 9, enforce: 0.1 }, note)
    const page = await open(options)
    await page.getByText('The last changes').click()
    await card(page).getByText('9 per 1 h').waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    await ask(page, 'Limit')
    await page.getByRole('dialog').waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  })
})

test('a store that fails is said to', async () => {
  const down = await startRedis()
  const own = await connect({ redis: down.url })
  const ending = new AbortController()
  const io = fakeTerminal(false)
  const flags = { prefix: 'sluice', host: '127.0.0.1', port: '0', every: '100ms', ipv6Prefix: '56' }
  const running = serveCommand(flags, own, io, ending.signal)
  await io.shows(/\n/)
  const page = await browser.open(io.out().trim())
  await page.getByText('No client is counted').waitFor()
  await down.kill()
  await page.getByRole('alert').getByText('Not up to date').waitFor()
  await down.restart()
  await page.getByRole('alert').getByText('Not up to date').waitFor({ state: 'detached' })
  await page.close()
  ending.abort()
  await running
  own.close()
  await down.stop()
})

test('before the first reading has ended, the page says that its numbers are partial', async () => {
  const page = await open()
  await page.getByText('read at').waitFor()
  await page.route('**/state', async (route) => {
    const response = await route.fetch()
    const snapshot = (await response.json()) as Snapshot
    const ranking = { ...snapshot.ranking, isComplete: false, looked: 12_345 }
    await route.fulfill({ json: { ...snapshot, ranking } })
  })
  await page.getByText('of the 12,345 keys read so far').waitFor()
  expect(await page.getByText('read at').count()).toBe(0)
})

describe.each([
  ['desktop', { width: 1280, height: 800 }, 41, 7],
  ['phone', { width: 390, height: 844 }, 60, 5],
] as const)('on a %s', (device, size, most, inSight) => {
  test('health and chart come first, then a line for each client, with its actions', async () => {
    const limiter = limiterOf()
    for (let i = 0; i < 30; i += 1) await limiter.consume(`198.51.100.${i}`, { cost: 90 })
    const page = await open({ device })
    await page.setViewportSize(size)
    await row(page, '198.51.100.9').waitFor()
    await expectNoSidewaysScroll(page)
    const boxes = await Promise.all(
      (await page.locator('tbody tr').all()).map(async (each) => (await each.boundingBox())!),
    )
    const heights = boxes.map(({ height }) => height)
    expect(Math.max(...heights)).toBeLessThanOrEqual(most)
    expect(
      boxes.filter(({ y, height }) => y + height <= size.height).length,
    ).toBeGreaterThanOrEqual(inSight)
    for (const name of ['Keys at their limit', 'The store']) {
      const { y } = (await page.getByRole('heading', { name }).boundingBox())!
      expect(y).toBeLessThan(boxes[0]!.y)
    }
    const menu = (await button(page, 'Actions for 203.0.113.7').boundingBox())!
    expect(menu.x + menu.width).toBeLessThanOrEqual(size.width)
  })
})

describe.each([
  ['light', { scheme: 'light', device: 'desktop' }],
  ['dark', { scheme: 'dark', device: 'desktop' }],
  ['phone', { scheme: 'light', device: 'phone' }],
] as const)('%s', (_, options) => {
  test('is accessible, with the question too, and fits', async () => {
    const page = await open(options)
    await page.getByLabel('Address, network or key').fill('user:42')
    await button(page, 'Find').click()
    await page.getByRole('article').waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    await button(page, 'Actions for 203.0.113.7').click()
    await button(page, 'Block 203.0.113.7').waitFor()
    await expectNoSidewaysScroll(page)
    if (options.device === 'desktop') await expectAccessible(page)
    await button(page, 'Block 203.0.113.7').click()
    await page.getByRole('dialog').waitFor()
    // On a phone it has the same colours and names.
    if (options.device === 'desktop') await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  })
})
