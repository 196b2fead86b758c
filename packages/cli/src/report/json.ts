import type { Report } from './report.ts'

/** The report as JSON, for programs. */
export function toJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`
}
