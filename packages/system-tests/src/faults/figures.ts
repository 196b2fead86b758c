import { appendFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { DEADLINE_MS, type Report } from './load.ts'

/** The figures of a test of a fault: a row of the table in docs/failures.md. */
export interface Figures {
  /** The number of its row in the table. */
  readonly row: number
  readonly fault: string
  /** The longest that a request waited, ms. */
  readonly waitedMs: number
  /** The most that one client was admitted beyond its limit, and what it may be, in requests. */
  readonly excess: number
  readonly bound: number
  /** The time from the end of the fault until the store decided again, ms; undefined: it never stopped. */
  readonly normalMs: number | undefined
}

/** Where `node scripts/faults.mjs` collects them: a file with a line of JSON for each. */
const FILE = process.env.SLUICE_FIGURES

/**
 * A test of a fault that the simulator plays, and of which `npm test` has another run on real processes: only
 * `node scripts/faults.mjs` causes it, to measure it.
 */
export const measured = FILE === undefined ? test.skip : test

/** The cases of a test of faults that are only measured. */
export const measuredCases = <Case>(...cases: readonly Case[]): readonly Case[] =>
  FILE === undefined ? [] : cases

/** Checks what must hold in every fault, and notes the figures for the table. */
export function conclude(
  row: number,
  fault: string,
  report: Report,
  { bound, normalMs }: Pick<Figures, 'bound' | 'normalMs'>,
  table: 'limits' | 'postgres' | 'mysql' | 'sqlite' = 'limits',
): void {
  expect(report.errors).toEqual([])
  expect(report.worstExcess).toBeLessThanOrEqual(bound)
  expectInTime(report)
  write({
    table,
    row,
    fault,
    waitedMs: Math.ceil(report.waitedMs),
    excess: report.worstExcess,
    bound,
    normalMs: normalMs === undefined ? undefined : Math.ceil(normalMs),
  })
}

/**
 * Expects that no request waits longer than the deadline and 20 ms, unless this process itself was blocked:
 * during a stall of more than half the deadline, a call counts a tenth of the deadline at most.
 */
function expectInTime({ waitedMs, stalledMs }: Report): void {
  const anew = stalledMs > DEADLINE_MS / 2 ? DEADLINE_MS : 0
  expect(waitedMs).toBeLessThanOrEqual(DEADLINE_MS + 20 + 2 * stalledMs + anew)
}

/** Notes the figures of a test that has checked them itself. */
export function note(figures: Partial<Figures> & Pick<Figures, 'row' | 'fault'>): void {
  write({ ...figures, table: 'limits' })
}

/** The figures of a test of a fault of slots: a row of the table of requests in progress. */
interface SlotFigures {
  readonly row: number
  readonly fault: string
  /** The most requests that were in progress at the same time, and how many may be. */
  readonly most: number
  readonly bound: number
  /** The time from the fault, or its end, until Redis counted what was in progress, and nothing else, ms. */
  readonly exactMs: number
}

export function noteSlots(figures: SlotFigures): void {
  const { most, bound } = figures
  expect(most).toBeLessThanOrEqual(bound)
  write({ ...figures, exactMs: Math.ceil(figures.exactMs), table: 'slots' })
}

function write(figures: object): void {
  if (FILE !== undefined) appendFileSync(FILE, `${JSON.stringify(figures)}\n`)
}
