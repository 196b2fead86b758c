import { count, duration, number, percent } from '@sluice/terminal/words'
import type { Demand, Report } from '../../report.ts'
import { rangeOf } from '../bins.ts'
import { type Html, html } from '../html.ts'
import { folded, table } from '../table.ts'
import { section } from './section.ts'

/** How clients' peaks are spread, for each window, with the limits drawn into it. */
export function demand({ demand }: Report): Html {
  return section('demand', 'What clients ask for', ...demand.map(distribution))
}

function distribution({ windowMs, limits, bins, quantiles }: Demand): Html {
  const window = duration(windowMs)
  const spread = table(
    `Peaks in ${window} and how many clients had them`,
    [
      { title: `Peak in ${window}`, cell: rangeOf },
      { title: 'Clients', number: true, cell: ({ clients }) => number(clients) },
    ],
    bins,
  )
  const shares = quantiles.map(
    ({ share, peak }) =>
      html`<div><dt>${percent(share)} of clients stay within</dt><dd>${number(peak)}</dd></div>`,
  )
  const key =
    limits.length > 0 &&
    html`<span class="key within">within the${limits.length > 1 && ' lowest'} limit</span><span class="key refused">beyond it</span>`
  if (bins.length === 0) return html`<p>No request met a policy with a window of ${window}.</p>`
  return html`<p>A client’s peak is the most that it asked for in any ${window}, before any limit: its requests, each with its cost.</p>
<figure class="charts" hidden>
<figcaption><span>Clients by their peak in ${window} <small>${key}</small></span><output>${count(sum(bins), 'client')}</output></figcaption>
<div class="plot"></div>
<p class="scrub"><span aria-hidden="true">Look at a peak</span><input type="range" aria-label="Peak" min="0" max="${Math.max(0, bins.length - 1)}" value="0"></p>
</figure>
<dl class="figures small">${shares}</dl>
${folded('These numbers as a table', spread)}`
}

const sum = (bins: Demand['bins']) => bins.reduce((total, { clients }) => total + clients, 0)
