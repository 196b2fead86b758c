import { duration, number, percent } from '@sluice/terminal/words'
import type { RefusedClient, Report, Run } from '../../report.ts'
import { type Html, html } from '../html.ts'
import { table } from '../table.ts'
import { verbatim } from '../verbatim.ts'
import { runName } from './run-name.ts'
import { section } from './section.ts'

/** The clients refused most, one tab for each run. The tabs need no script. */
export function refused({ runs }: Report): Html {
  const tabs = runs.map((run, i) => {
    const id = `refused-${i}`
    return html`<input type="radio" name="refused" id="${id}"${i === 0 && html` checked`}>
<label for="${id}">${runName(run)}</label>
<div class="tab"><h3>${runName(run)}</h3>${clientsOf(run)}</div>`
  })
  return section(
    'refused',
    'Refused most',
    html`<fieldset class="tabs"><legend class="unseen">Limited by</legend>${tabs}</fieldset>`,
  )
}

function clientsOf(run: Run): Html {
  if (run.mostRefused.length === 0) return html`<p>No client was refused.</p>`
  return table<RefusedClient>(
    `Clients that ${run.name} refused most`,
    [
      { title: 'Client', cell: ({ client }) => verbatim(client) },
      { title: 'Requests', number: true, cell: ({ requests }) => number(requests) },
      {
        title: 'Refused',
        number: true,
        cell: ({ refused, requests }) =>
          html`${number(refused)} <small>${percent(refused / requests)}</small>`,
      },
      {
        title: 'Longest refused',
        number: true,
        cell: ({ longestRefusedMs }) => duration(longestRefusedMs),
      },
    ],
    run.mostRefused,
    { cards: true },
  )
}
