import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { scratch } from '@sluice/test-harness/jest'
import { renderReport } from '../report/html/index.ts'
import { toJson } from '../report/json.ts'
import type { Report } from '../report/report.ts'
import { checkReportFile } from './report-file.ts'

const { folder, file } = scratch()

/** The report of a log without requests. */
const EMPTY = {
  schema: 1,
  source: {
    ...{ names: ['access.log'], masked: true, format: 'combined', unreadableLines: [] },
    ...{ fromMs: 0, toMs: 0, lines: 0, unreadable: 0, early: 0, late: 0 },
  },
  ...{ requests: 0, clients: 0, runs: [], demand: [], findings: [] },
  timeline: { startMs: 0, stepMs: 1000, requests: [] },
} as unknown as Report

describe.each([
  { flag: '--json', ending: 'json', report: toJson(EMPTY) },
  { flag: '--html', ending: 'html', report: renderReport(EMPTY) },
] as const)('$flag', ({ flag, ending, report }) => {
  // A report itself, so that it is refused only because it is an input.
  const input = file(`input.${ending}`, report)

  function otherName(name: string, link: (from: string, to: string) => void): string {
    const path = join(folder, `${name}.${ending}`)
    link(input, path)
    return path
  }

  it.each([
    ['itself', input],
    ['by a symbolic link', otherName('symbolic', symlinkSync)],
    ['by a hard link', otherName('hard', linkSync)],
    ['by another path', join(folder, '..', basename(folder), `input.${ending}`)],
  ])('does not overwrite an input: %s', (_, path) => {
    expect(() => checkReportFile(flag, path, ['other.log', input])).toThrow(
      `${flag}: ${path} is an input, which the report would overwrite`,
    )
    expect(() => checkReportFile(flag, input, ['-', path])).toThrow('is an input')
    expect(() => checkReportFile(flag, path, ['other.log'])).not.toThrow()
  })

  it('refuses a path in which no file can be made', () => {
    for (const path of [join(folder, 'nowhere', `x.${ending}`), join(input, `x.${ending}`)]) {
      expect(() => checkReportFile(flag, path, [])).toThrow(
        `${flag}: can't write ${path}: there is no folder`,
      )
    }
    expect(() => checkReportFile(flag, join(folder, `new.${ending}`), [])).not.toThrow()
  })

  it.each([
    ['a log', `${report.slice(100)}${report}`],
    ['a line of JSON', '{"schema":1,"source":{}}\n'],
  ])('does not overwrite what is no report: %s', (name, content) => {
    const path = file(`${name}.${ending}`, content)
    expect(() => checkReportFile(flag, path, [])).toThrow(
      `${flag}: ${path} exists and is no report of sluice replay. Choose another name, or remove it`,
    )
  })

  it('does not overwrite a folder', () => {
    const path = join(folder, `folder.${ending}`)
    mkdirSync(path)
    expect(() => checkReportFile(flag, path, [])).toThrow('exists and is no report')
  })

  it('overwrites a report, and a file with nothing in it', () => {
    for (const path of [input, file(`empty.${ending}`, ''), join(folder, `new.${ending}`)]) {
      expect(() => checkReportFile(flag, path, [])).not.toThrow()
    }
  })
})
