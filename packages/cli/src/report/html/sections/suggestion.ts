import { duration, number, percent } from '@sluice/terminal/words'
import type { Report } from '../../report.ts'
import { type Html, html } from '../html.ts'
import { table } from '../table.ts'
import { section } from './section.ts'

export function suggestion({ suggestion }: Report): Html | undefined {
  if (suggestion === undefined) return undefined
  const window = duration(suggestion.windowMs)
  const rows = table(
    'Limits that would have spared clients',
    [
      { title: 'Clients never refused', cell: ({ share }) => percent(share) },
      { title: `Limit in ${window}`, number: true, cell: ({ limit }) => number(limit) },
      { title: 'Burst of a token bucket', number: true, cell: ({ burst }) => number(burst) },
    ],
    suggestion.rows,
  )
  return section(
    'suggestion',
    'Limits to consider',
    html`<p>With these limits in ${window}, so many clients of this log would never have been refused.
The burst is what a token bucket of that limit would have to hold for the same.</p>`,
    rows,
  )
}
