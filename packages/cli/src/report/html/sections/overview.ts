import { duration, moment, number } from '@sluice/terminal/words'
import type { Report, Run } from '../../report.ts'
import { type Html, html } from '../html.ts'

/** The source of the replay, in a sentence, and the totals. */
export function overview({ source, requests, clients, runs }: Report): Html {
  const length = source.toMs - source.fromMs
  const figures = [
    ['requests', number(requests)],
    ['clients', number(clients)],
    ['of traffic', duration(length)],
    ...commonLimit(runs).map((limit) => ['limit', limit]),
  ]
  return html`<header>
<p class="made">sluice replay</p>
<h1>What ${runs.length === 1 ? 'this limit' : 'each limit'} would have done</h1>
<p class="lead"><bdi>${source.names.map(nameOf).join(', ')}</bdi>, ${moment(source.fromMs)} to ${moment(source.toMs)}</p>
${
  source.interrupted &&
  html`<p class="notice">Stopped before the end: these figures cover what was played until then.</p>`
}
<dl class="figures">${figures.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>
</header>`
}

/** The one limit of all runs, if they differ in nothing but the algorithm. */
function commonLimit(runs: readonly Run[]): string[] {
  const limits = runs.flatMap(({ policies }) =>
    policies.map(({ limit, windowMs }) =>
      limit === undefined || windowMs === undefined
        ? undefined
        : `${number(limit)} in ${duration(windowMs)}`,
    ),
  )
  const [first] = limits
  const common = limits.length === runs.length && limits.every((other) => other === first)
  return first !== undefined && common ? [first] : []
}

const nameOf = (name: string) => (name === '-' ? 'Standard input' : name)
