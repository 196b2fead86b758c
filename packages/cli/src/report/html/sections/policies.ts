import { count, duration, number } from '@sluice/terminal/words'
import type { PolicySummary } from '../../../replay/runs/policy-summary.ts'
import type { Report, Run } from '../../report.ts'
import { type Html, html } from '../html.ts'
import { table } from '../table.ts'
import { runName } from './run-name.ts'
import { section } from './section.ts'

interface Row {
  readonly run: Run
  readonly policy: PolicySummary
}

/** The policies that were replayed. */
export function policies({ runs }: Report): Html {
  const rows = runs.flatMap((run) => run.policies.map((policy) => ({ run, policy })))
  const several = runs.some(({ policies }) => policies.length > 1)
  const exempt = runs.filter(({ exempt }) => exempt > 0)
  return section(
    'policies',
    'The policies',
    table<Row>(
      'The policies of each run',
      [
        { title: 'Limited by', cell: ({ run }) => runName(run) },
        several && { title: 'Policy', cell: ({ policy }) => html`<bdi>${policy.name}</bdi>` },
        rows.some(({ run, policy }) => run.name !== policy.algorithm) && {
          title: 'Algorithm',
          cell: ({ policy }) => policy.algorithm,
        },
        { title: 'Limit', number: true, cell: ({ policy }) => limitOf(policy) },
        { title: 'Window', number: true, cell: ({ policy }) => windowOf(policy) },
        { title: 'Further', cell: ({ policy }) => further(policy) },
      ],
      rows,
      { cards: true },
    ),
    exempt.map(
      ({ name, exempt }) =>
        html`<p class="note">${count(exempt, 'request')} were exempt from <bdi>${name}</bdi>, and are counted as admitted.</p>`,
    ),
  )
}

const limitOf = ({ limit }: PolicySummary) => (limit === undefined ? 'by request' : number(limit))

function windowOf({ algorithm, windowMs }: PolicySummary): string {
  if (windowMs !== undefined) return duration(windowMs)
  return algorithm === 'concurrency' ? 'at the same time' : 'by request'
}

function further({ burst, maxDelayMs }: PolicySummary): string {
  if (burst !== undefined) return `burst ${number(burst)}`
  return maxDelayMs === undefined ? '–' : `waits up to ${duration(maxDelayMs)}`
}
