import { expect } from '@jest/globals'
import type { Report } from '../report/report.ts'
import { complaints, runCli } from './run-cli.ts'

/** The report of a replay that succeeds. @param args a log, and flags */
export async function replayed(...args: readonly string[]): Promise<Report> {
  const { code, stdout, stderr } = await runCli(['replay', ...args, '--json'])
  expect({ code, stderr: complaints(stderr) }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Report
}
