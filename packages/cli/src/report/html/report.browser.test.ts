import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { count, duration, moment, number, percent } from '@sluice/terminal/words'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  type OpenOptions,
  type Page,
  picture,
  useBrowser,
} from '@sluice/test-harness/browser'
import { until } from '@sluice/test-harness/redis'
import { dayOfTraffic } from '../../testing/day-of-traffic.ts'
import { toCombined } from '../../testing/known-traffic.ts'
import { runCli } from '../../testing/run-cli.ts'
import type { Report, Run } from '../report.ts'
import { rangeOf } from './bins.ts'
import { renderReport } from './index.ts'

const browser = useBrowser()
let folder: string
/** The page that the command has written of a day of traffic, and its report. */
let written: string
let sample: Report

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  const log = join(folder, 'access.log')
  written = join(folder, 'replay.html')
  writeFileSync(log, `${toCombined(dayOfTraffic())}\u0016\u0003\u0001 - -\n`)
  const limits = ['--limit', '100', '--window', '1m', '--suggest']
  const { stdout } = await runCli(['replay', log, ...limits, '--html', written, '--json'])
  sample = JSON.parse(stdout)
})

afterAll(() => rmSync(folder, { recursive: true }))

function open(report: Report = sample, options: OpenOptions = {}): Promise<Page> {
  const file = join(folder, 'report.html')
  writeFileSync(file, renderReport(report))
  return browser.open(pathToFileURL(file), options)
}

/** The texts of the cells, row by row, of the table with that caption. */
function cellsOf(page: Page, caption: string): Promise<string[][]> {
  const table = page.locator('table', { has: page.locator('caption', { hasText: caption }) })
  return table.evaluate((element) =>
    [...(element as HTMLTableElement).tBodies[0]!.rows].map((row) =>
      [...row.cells].map((cell) => cell.textContent!.trim().replace(/\s+/g, ' ')),
    ),
  )
}

const stepAt = (step: number) => {
  const { startMs, stepMs } = sample.timeline
  return moment(startMs + step * stepMs)
}

/** What is drawn in each chart. */
const drawingsOf = (page: Page) =>
  page
    .locator('canvas')
    .evaluateAll((elements) => elements.map((each) => (each as HTMLCanvasElement).toDataURL()))

const same = (some: readonly string[], others: readonly string[]) =>
  some.length > 0 && some.every((drawing, i) => drawing === others[i])

const outputOf = (page: Page, run: number) => page.locator('#timeline output').nth(run)

// Colours depend on the scheme alone, and what fits on the device alone.
test.each([
  ['light', 'desktop'],
  ['dark', 'phone'],
] as const)('%s, on a %s, it is accessible and fits', async (scheme, device) => {
  const page = await open(sample, { scheme, device })
  await expectNoSidewaysScroll(page)
  for (const summary of await page.locator('summary').all()) await summary.click()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
})

test('each run has a chart, and each window one of its peaks', async () => {
  const page = await open()
  expect(await page.locator('#timeline canvas').count()).toBe(5)
  expect(await page.locator('#demand canvas').count()).toBe(1)
})

test('the mouse over one chart shows that moment in all charts', async () => {
  const page = await open()
  const before = await outputOf(page, 4).textContent()
  const over = page.locator('#timeline .u-over').first()
  const { width } = (await over.boundingBox())!
  await over.hover({ position: { x: (width * 60.5) / sample.timeline.requests.length, y: 20 } })
  for (const [i, run] of sample.runs.entries()) {
    const text = `${number(run.admittedTimeline[60]!)} admitted, ${number(run.refusedTimeline[60]!)} refused`
    await outputOf(page, i).getByText(text, { exact: true }).waitFor()
  }
  await page.locator('h1').hover()
  await outputOf(page, 4).getByText(before!, { exact: true }).waitFor()
})

test('the keyboard alone moves through the charts, switches them and opens tables', async () => {
  const page = await open()
  const slider = page.getByRole('slider', { name: 'Moment' })
  const both = await drawingsOf(page)

  await page.locator('body').press('Tab')
  await tabTo(page, 'input[value=both]')
  await page.keyboard.press('ArrowRight')
  expect(await page.locator('input[value=refused]').isChecked()).toBe(true)
  await until(async () => !same(await drawingsOf(page), both), { what: 'the charts change' })

  await tabTo(page, '#timeline input[type=range]')
  await page.keyboard.press('ArrowRight')
  expect(await slider.getAttribute('aria-valuetext')).toBe(stepAt(1))
  const { admittedTimeline, refusedTimeline } = sample.runs[2] as Run
  expect(await outputOf(page, 2).textContent()).toBe(
    `${number(admittedTimeline[1]!)} admitted, ${number(refusedTimeline[1]!)} refused`,
  )

  await tabTo(page, '#timeline summary')
  await page.keyboard.press('Enter')
  expect(await page.locator('#timeline table').isVisible()).toBe(true)

  await tabTo(page, '#demand input[type=range]')
  await page.keyboard.press('End')
  const { clients } = sample.demand[0]!.bins.at(-1)!
  expect(await page.locator('#demand output').textContent()).toBe(count(clients, 'client'))

  await tabTo(page, '#refused-0')
  await page.keyboard.press('ArrowDown')
  expect(await page.locator('#refused table:visible caption').textContent()).toContain(
    `${sample.runs[1]!.name} refused most`,
  )
})

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await page.locator(selector).evaluate((element) => element === document.activeElement))
      return
    await page.keyboard.press('Tab')
  }
  throw new Error(`60 times Tab did not lead to ${selector}`)
}

test('the charts take the colours of the page when they change, and its width', async () => {
  const page = await open()
  const dark = await drawingsOf(await open(sample, { scheme: 'dark' }))
  await page.emulateMedia({ colorScheme: 'dark' })
  await until(async () => same(await drawingsOf(page), dark), { what: 'the charts are dark' })

  await page.setViewportSize({ width: 600, height: 900 })
  const canvas = page.locator('#timeline canvas').first()
  await until(async () => (await canvas.boundingBox())!.width < 600, {
    what: 'the chart is narrow',
  })
  await expectNoSidewaysScroll(page)
})

describe('without scripts', () => {
  test('every number is in a table, and no chart is missed', async () => {
    const page = await open(sample, { javaScript: false })
    const { timeline, runs, demand, suggestion } = sample
    const timelines = runs.flatMap((run) => [run.admittedTimeline, run.refusedTimeline])
    const steps = await cellsOf(page, 'Requests over time')
    expect(steps.map((row) => row.slice(1))).toEqual(
      timeline.requests.map((_, step) =>
        [timeline.requests, ...timelines].map((counts) => number(counts[step]!)),
      ),
    )
    expect(steps[6]![0]).toBe(stepAt(6))
    const peaks = await cellsOf(page, 'Peaks in 1 min')
    expect(peaks.map(([, clients]) => clients)).toEqual(
      demand[0]!.bins.map(({ clients }) => number(clients)),
    )
    expect(peaks.at(-1)![0]).toBe(rangeOf(demand[0]!.bins.at(-1)!))
    const summary = await cellsOf(page, 'What each run admitted and refused')
    const run = runs[0]!
    const [most] = run.most
    expect(summary[0]).toEqual([
      run.name,
      number(run.admitted),
      `${number(run.refused)} ${percent(run.refused / run.requests)}`,
      `${number(run.clientsRefused)} ${percent(run.clientsRefused / sample.clients)}`,
      `${number(most!.units)} ${(most!.units / 100).toFixed(2)} × limit`,
      duration(run.longestRefusedMs),
      number(run.peakKeys),
    ])
    const limits = await cellsOf(page, 'Limits that would have spared')
    expect(limits).toEqual(
      suggestion!.rows.map(({ limit, burst }, i) => [
        ['99 %', '99.9 %', '99.99 %'][i],
        number(limit),
        number(burst),
      ]),
    )
    const past = await cellsOf(page, 'admitted more than the limit')
    expect(past[0]!.slice(-3)).toEqual(most!.over.map(({ clients }) => count(clients, 'client')))
    const unreadable = await cellsOf(page, 'could not be read')
    const { line, reason } = sample.source.unreadableLines[0]!
    expect(unreadable).toEqual([[`access.log:${line}`, reason, '\\u0016\\u0003\\u0001 - -']])
    expect(await page.locator('.plot:visible').count()).toBe(0)
  })

  test('the tabs of the clients refused most work', async () => {
    const page = await open(sample, { javaScript: false })
    await page.locator('label[for=refused-4]').click()
    const first = sample.runs[4]!.mostRefused[0]!
    expect(await page.locator('#refused .tab:visible tbody tr').first().textContent()).toContain(
      number(first.requests),
    )
    expect(await page.locator('#refused .tab:visible').count()).toBe(1)
  })
})

test('what a log says is shown letter by letter and does nothing', async () => {
  const hostile = `</script></title></style><img src=x onerror="document.title='taken'">' " <!--`
  const runs = sample.runs.map((run) => ({
    ...run,
    name: hostile,
    policies: run.policies.map((policy) => ({ ...policy, name: hostile, algorithm: hostile })),
    most: run.most.map((most) => ({ ...most, client: hostile, policy: hostile })),
    mostRefused: run.mostRefused.map((client) => ({ ...client, client: hostile })),
  }))
  const source = {
    ...sample.source,
    names: [hostile],
    unreadableLines: [{ name: hostile, line: 1, text: hostile, reason: hostile }],
  }
  const page = await open({ ...sample, runs, source, findings: [hostile] })
  expect(await page.title()).toBe(`Replay of ${hostile} – Sluice`)
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.locator('#refused code:visible').first().textContent()).toBe(hostile)
  expect(await page.locator('#timeline canvas').count()).toBe(5)
  await expectAccessible(page)
})

test('printed, it has the charts of a light page, all tabs and no controls', async () => {
  const page = await open(sample, { scheme: 'dark' })
  const light = await open()
  for (const printed of [page, light]) await printed.emulateMedia({ media: 'print' })
  await until(async () => same(await drawingsOf(page), await drawingsOf(light)), {
    what: 'the charts are light',
  })
  expect(await page.locator('#refused table:visible').count()).toBe(5)
  expect(await page.locator('input:visible').count()).toBe(0)
})

describe('reports at the edges', () => {
  const of = (change: Partial<Report>): Report => ({ ...sample, ...change })

  test('one request of one client', async () => {
    const one = { ...(sample.runs[1] as Run), requests: 1, admitted: 1, refused: 0 }
    const page = await open(
      of({
        requests: 1,
        clients: 1,
        timeline: { ...sample.timeline, requests: [1] },
        runs: [{ ...one, admittedTimeline: [1], refusedTimeline: [0], mostRefused: [] }],
        demand: [{ ...sample.demand[0]!, bins: [{ from: 1, to: 1, clients: 1 }], quantiles: [] }],
      }),
    )
    await expectAccessible(page)
    await page.getByRole('slider', { name: 'Moment' }).press('ArrowRight')
    expect(await outputOf(page, 0).textContent()).toBe('1 admitted, 0 refused')
  })

  test('stopped before anything was played', async () => {
    const runs = sample.runs.map((run) => ({ ...run, admittedTimeline: [], refusedTimeline: [] }))
    const page = await open(
      of({
        requests: 0,
        clients: 0,
        timeline: { ...sample.timeline, requests: [] },
        runs: runs.map((run) => ({ ...run, requests: 0, admitted: 0, refused: 0, most: [] })),
        demand: [
          { ...sample.demand[0]!, bins: [], quantiles: [] },
          { ...sample.demand[0]!, windowMs: 1000 },
        ],
        findings: [],
      }),
    )
    expect(await page.locator('main').textContent()).not.toMatch(/NaN|Infinity|undefined/)
    expect(await page.locator('#demand canvas').count()).toBe(1)
    expect(await page.locator('#demand').textContent()).toContain('No request met a policy')
  })

  test('limits beyond every peak, and no limit at all', async () => {
    const demand = [
      { ...sample.demand[0]!, limits: [5000, 9000] },
      { ...sample.demand[0]!, windowMs: 1000, limits: [] },
    ]
    const page = await open(of({ demand }))
    expect(await page.locator('#demand canvas').count()).toBe(2)
  })
})

describe('of a real replay', () => {
  test('the page that the command writes is the page of its report', () => {
    expect(readFileSync(written, 'utf8')).toBe(renderReport(sample))
  })

  test.each([
    { name: 'report-light.png', to: '#summary' },
    { name: 'report-dark.png', scheme: 'dark', from: '#timeline', to: '#demand' },
    { name: 'report-phone.png', device: 'phone', from: '#demand', to: '#demand .charts' },
  ] as const)('$name', async (kind: Kind) => {
    const page = await open(sample, kind)
    const steps = await cellsOf(page, 'Requests over time')
    const total = steps.reduce((sum, [, requests]) => sum + Number(requests!.replace(',', '')), 0)
    expect(total).toBe(sample.requests)
    await picture(page, kind.name, { fullPage: true, clip: await partOf(page, kind) })
  })
})

/** A picture of the docs, and what it shows. */
interface Kind extends OpenOptions {
  readonly name: string
  /** The element at whose top the picture begins; default: the page. It ends at the bottom of `to`. */
  readonly from?: string
  readonly to: string
}

async function partOf(page: Page, { from, to }: Kind) {
  const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!
  const margin = 24
  const top = from ? (await boxOf(from)).y - margin : 0
  const { y, height } = await boxOf(to)
  return { x: 0, y: top, width: page.viewportSize()!.width, height: y + height + margin - top }
}
