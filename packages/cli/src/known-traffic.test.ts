import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ALGORITHM_NAMES } from '@sluice/core/algorithms'
import type { Report, Run } from './report/report.ts'
import {
  type KnownRequest,
  knownTraffic,
  toCombined,
  toJsonLines,
} from './testing/known-traffic.ts'
import { decide, figuresOf, timelineOf } from './testing/oracle.ts'
import { replayed } from './testing/replayed.ts'

const LIMIT = 100
const WINDOW_MS = 60_000
const OPTIONS = { limit: LIMIT, windowMs: WINDOW_MS, burst: 30, maxDelayMs: 2500 }
const FLAGS = ['--limit', '100', '--window', '1m', '--burst', '30', '--max-delay', '2500']

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-known-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The requests in whole seconds, one unit each, as a combined log has them. */
function inSeconds(requests: readonly KnownRequest[]): KnownRequest[] {
  return requests.map((each) => ({ ...each, atMs: each.atMs - (each.atMs % 1000), cost: 1 }))
}

describe.each([
  {
    log: 'JSON lines in ms, with costs',
    seed: 1,
    made: (requests: KnownRequest[]) => requests,
    written: toJsonLines,
    flags: ['--cost', 'cost'],
  },
  {
    log: 'a combined log in seconds',
    seed: 2,
    made: inSeconds,
    written: toCombined,
    flags: [],
  },
])('$log of known traffic', ({ log, seed, made, written, flags }) => {
  // The oracle takes the square of the time.
  const requests = made(knownTraffic(seed, 5))
  let report: Report
  beforeAll(async () => {
    const file = join(folder, `${log}.txt`)
    writeFileSync(file, written(requests))
    report = await replayed(file, ...FLAGS, ...flags, '--show-clients')
  })

  it.each(ALGORITHM_NAMES)('reports for %s exactly what its definition says', (name) => {
    const decided = decide(name, OPTIONS, requests)
    const { most, ...figures } = figuresOf(decided, LIMIT, WINDOW_MS)
    const run = report.runs.find((each) => each.name === name) as Run
    expect(run).toMatchObject(figures)
    expect(run.most).toEqual([{ policy: 'default', ...most }])
    const { startMs, stepMs } = report.timeline
    const timeline = (counts: (goesOn: boolean) => boolean) =>
      timelineOf(decided, startMs, stepMs, ({ goesOnMs }) => counts(goesOnMs !== undefined))
    expect(run.admittedTimeline).toEqual(timeline((goesOn) => goesOn))
    expect(run.refusedTimeline).toEqual(timeline((goesOn) => !goesOn))
    expect(report.timeline.requests).toEqual(timeline(() => true))
  })

  it('reports what clients asked for', () => {
    const asked = figuresOf(
      requests.map((each) => ({ ...each, goesOnMs: each.atMs })),
      LIMIT,
      WINDOW_MS,
    )
    const [demand] = report.demand
    expect(report).toMatchObject({ requests: requests.length, clients: 42 })
    expect(demand?.quantiles.at(-1)).toEqual({ share: 1, peak: asked.most.units })
    expect(demand?.bins.reduce((total, { clients }) => total + clients, 0)).toBe(42)
  })
})
