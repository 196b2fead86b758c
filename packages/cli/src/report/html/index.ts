import type { Report } from '../report.ts'
import { dataElement } from './data.ts'
import { documentOf } from './document.ts'
import { html } from './html.ts'
import { demand } from './sections/demand.ts'
import { findings } from './sections/findings.ts'
import { log } from './sections/log.ts'
import { overview } from './sections/overview.ts'
import { policies } from './sections/policies.ts'
import { refused } from './sections/refused.ts'
import { suggestion } from './sections/suggestion.ts'
import { summary } from './sections/summary.ts'
import { timeline } from './sections/timeline.ts'

/**
 * The report as one page that needs nothing else: no network, no other file. What comes from the
 * log is escaped. Without scripts it lacks its charts, and no number.
 */
export function renderReport(report: Report): string {
  const sections = [
    findings(report),
    summary(report),
    timeline(report),
    demand(report),
    suggestion(report),
    refused(report),
    policies(report),
    log(report),
  ]
  return documentOf(
    `Replay of ${report.source.names.join(', ')} – Sluice`,
    html`${overview(report)}<main>${sections}</main>${dataElement(report)}`,
  )
}
