import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { scratch } from '@sluice/test-harness/jest'
import { knownTraffic, toJsonLines } from '../../testing/known-traffic.ts'
import { replayed } from '../../testing/replayed.ts'
import type { Report, Run } from '../report.ts'
import { renderReport } from './index.ts'

const { file } = scratch()
let sample: Report
let run: Run
beforeAll(async () => {
  const log = file('access.jsonl', toJsonLines(knownTraffic(3, 4)))
  sample = await replayed(log, '--limit', '100', '--suggest')
  run = sample.runs[0] as Run
})

const rendered = (change: Partial<Report>) => renderReport({ ...sample, ...change })

/** The text of a page, without script and style, tags as spaces. */
function textOf(page: string): string {
  return page
    .replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
}

test('the same report gives the same page', () => {
  expect(renderReport(sample)).toBe(renderReport(sample))
})

test('the page lets its own script and style in, and nothing else', () => {
  const page = renderReport(sample)
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? ''
  expect(policy).toMatch(/^default-src &#39;none&#39;; /)
  for (const [, element, text] of page.matchAll(/<(script|style)>(.*?)<\/\1>/gs)) {
    const hash = createHash('sha256').update(String(text)).digest('base64')
    expect(policy).toContain(`${element}-src &#39;sha256-${hash}&#39;`)
  }
  expect(page).not.toMatch(/ style="| on\w+="|<link|https?:\/\/(?!github\.com\/leeoniya)/)
})

test('the page has the licence of the library that draws its charts', () => {
  expect(renderReport(sample)).toMatch(/uplot\nThe MIT License.*Leon Sorokin/s)
})

test('runs that refused nothing have one chart together', () => {
  const panelsOf = (runs: readonly Run[]) =>
    renderReport({ ...sample, runs: [...runs] }).match(/class="panel"/g)?.length
  const [refusing, ...others] = sample.runs.map((each, i) =>
    i === 0 ? each : { ...each, refused: 0 },
  )
  expect(panelsOf(sample.runs)).toBe(5)
  expect(panelsOf([refusing as Run, ...others])).toBe(1)
  expect(textOf(renderReport({ ...sample, runs: [refusing as Run, ...others] }))).toContain(
    'Not drawn, because they refused nothing: ',
  )
  expect(panelsOf(others)).toBe(1)
})

test('one run, of several policies, as a configuration file has them', () => {
  const policies = [
    { name: 'burst', algorithm: 'token-bucket', limit: 20, windowMs: 1000, burst: 40 },
    { name: 'plan', algorithm: 'sliding-window', limit: undefined, windowMs: 3_600_000 },
  ]
  const most = ['burst', 'plan'].map((policy) => ({
    policy,
    units: 57,
    client: '192.0.2.x',
    atMs: 0,
    over: [],
  }))
  const page = textOf(
    rendered({ runs: [{ ...run, name: 'limits.json', policies, most, exempt: 12 }] }),
  )
  expect(page).toContain('What this limit would have done')
  expect(page).toContain('limits.json burst token-bucket 20 1 s burst 40')
  expect(page).toContain('limits.json plan sliding-window by request 1 h')
  expect(page).toContain('12 requests were exempt from limits.json')
})

describe('a report without findings', () => {
  test('no findings and no suggestion have no section', () => {
    const page = rendered({ findings: [], suggestion: undefined })
    expect(page).not.toMatch(/What stands out|Limits to consider/)
  })

  test('nobody refused', () => {
    const quiet = { ...run, refused: 0, clientsRefused: 0, mostRefused: [], longestRefusedMs: 0 }
    const page = textOf(rendered({ runs: [quiet] }))
    expect(page).toContain('No client was refused.')
  })

  test('every line readable and in order', () => {
    const source = { ...sample.source, lines: 9, unreadable: 0, unreadableLines: [], late: 0 }
    const page = textOf(rendered({ source }))
    expect(page).toContain('9 lines of JSON lines, all of them readable. ')
  })
})

test('an interrupted replay says so, a finished one does not', () => {
  const source = { ...sample.source, interrupted: true }
  expect(rendered({ source })).toContain('Stopped before the end')
  expect(renderReport(sample)).not.toContain('Stopped before the end')
})
