import { count, duration, moment, number, percent } from '@sluice/terminal/words'
import type { MostAdmitted, Report, Run } from '../../report.ts'
import { type Html, html } from '../html.ts'
import { folded, table } from '../table.ts'
import { verbatim } from '../verbatim.ts'
import { runName } from './run-name.ts'
import { section } from './section.ts'

/** The runs in one table. */
export function summary({ runs, clients }: Report): Html {
  const banned = runs.some(({ bans }) => bans > 0)
  const highest = Math.max(...runs.map(refusedShare))
  const overview = table<Run>(
    'What each run admitted and refused',
    [
      { title: 'Limited by', cell: runName },
      { title: 'Admitted', number: true, cell: (run) => number(run.admitted) },
      {
        title: 'Refused',
        number: true,
        cell: (run) => [
          html`${number(run.refused)} <small>${percent(refusedShare(run))}</small>`,
          bar(highest === 0 ? 0 : refusedShare(run) / highest),
        ],
      },
      {
        title: 'Clients refused',
        number: true,
        cell: (run) =>
          html`${number(run.clientsRefused)} <small>${percent(shareOf(run.clientsRefused, clients))}</small>`,
      },
      banned && {
        title: 'Bans',
        number: true,
        cell: ({ bans, clientsBanned }) =>
          html`${number(bans)} <small>${count(clientsBanned, 'client')}</small>`,
      },
      {
        title: 'Most in any window',
        number: true,
        cell: (run) => run.most.map((most) => mostIn(run, most)),
      },
      { title: 'Longest refused', number: true, cell: (run) => duration(run.longestRefusedMs) },
      { title: 'Peak of keys', number: true, cell: (run) => number(run.peakKeys) },
    ],
    runs,
    { cards: true },
  )
  return section('summary', 'Side by side', overview, past(runs), note)
}

const shareOf = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)

const refusedShare = ({ refused, requests }: Run) => shareOf(refused, requests)

/** @param share how much of the room it fills, 0 … 1 */
const bar = (share: number) =>
  html`<svg class="bar" aria-hidden="true"><rect width="${(100 * share).toFixed(2)}%" height="100%"/></svg>`

function mostIn(run: Run, { policy, units }: MostAdmitted): Html {
  const limit = run.policies.find(({ name }) => name === policy)?.limit
  const times = limit ? html` <small>${(units / limit).toFixed(2)} × limit</small>` : undefined
  const name = run.policies.length > 1 ? html`<small><bdi>${policy}</bdi></small> ` : undefined
  return html`<div>${name}${number(units)}${times}</div>`
}

const note = html`<p class="note"><b>Most in any window</b>: the most that a single client was admitted in any span as long as
the window, wherever it begins; of a limit of requests in progress, at the same time. <b>Longest refused</b>: the longest that a client met nothing but refusals, from the first to the last.
<b>Peak of keys</b>: the most counts that the store held at the same time, which determines its memory.</p>`

interface Past {
  readonly run: Run
  readonly most: MostAdmitted
}

/** How far clients got past the limit. */
function past(runs: readonly Run[]): Html {
  const rows = runs.flatMap((run) => run.most.map((most) => ({ run, most })))
  const several = runs.some(({ most }) => most.length > 1)
  const shares = rows[0]?.most.over.map(({ share }) => share) ?? []
  const content = table<Past>(
    'Clients that were admitted more than the limit in some window',
    [
      { title: 'Limited by', cell: ({ run }) => runName(run) },
      several && { title: 'Policy', cell: ({ most }) => html`<bdi>${most.policy}</bdi>` },
      { title: 'Most', number: true, cell: ({ most }) => number(most.units) },
      { title: 'Admitted to', cell: ({ most }) => verbatim(most.client) },
      { title: 'In the window up to', cell: ({ most }) => moment(most.atMs) },
      ...shares.map((share, i) => ({
        title: `Above ${percent(share)}`,
        number: true,
        cell: ({ most }: Past) => count(most.over[i]?.clients ?? 0, 'client'),
      })),
    ],
    rows,
    { cards: true },
  )
  return folded('How far clients got past the limit', content)
}
