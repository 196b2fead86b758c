import { duration, moment, number } from '@sluice/terminal/words'
import type { Report, Run } from '../../report.ts'
import { type Html, html } from '../html.ts'
import { folded, table } from '../table.ts'
import { runName } from './run-name.ts'
import { section } from './section.ts'

/** The runs that have a chart: those that refused something, or the first one. */
export function drawnRuns(runs: readonly Run[]): readonly Run[] {
  const refusing = runs.filter(({ refused }) => refused > 0)
  return refusing.length > 0 ? refusing : runs.slice(0, 1)
}

/** Admitted and refused over the log's time, a chart for each run that differs. */
export function timeline({ timeline, runs }: Report): Html {
  const { startMs, stepMs, requests } = timeline
  const drawn = drawnRuns(runs)
  const others = runs.filter((run) => !drawn.includes(run)).map(({ name }) => name)
  const panels = drawn.map(
    (run) => html`<figure class="panel">
<figcaption>${runName(run)}<output>${number(run.admitted)} admitted, ${number(run.refused)} refused</output></figcaption>
<div class="plot"></div>
</figure>`,
  )
  const steps = requests.map((_, step) => step)
  const numbers = table<number>(
    'Requests over time',
    [
      { title: 'From', cell: (step) => moment(startMs + step * stepMs) },
      { title: 'Requests', number: true, cell: (step) => number(requests[step] ?? 0) },
      ...runs.flatMap(({ name, admittedTimeline, refusedTimeline }) => [
        {
          title: `${name}: admitted`,
          number: true,
          cell: (step: number) => number(admittedTimeline[step] ?? 0),
        },
        {
          title: `${name}: refused`,
          number: true,
          cell: (step: number) => number(refusedTimeline[step] ?? 0),
        },
      ]),
    ],
    steps,
  )
  return section(
    'timeline',
    'Over time',
    html`<div class="charts" hidden>
<div class="above">
<p class="note">Requests in each ${duration(stepMs)}. <span class="key admitted">admitted</span> <span class="key refused">refused</span></p>
<fieldset class="switch"><legend class="unseen">Show</legend>
<label><input type="radio" name="view" value="both" checked>Admitted and refused</label>
<label><input type="radio" name="view" value="refused">Refused only</label>
</fieldset>
</div>
${panels}
${others.length > 0 && html`<p class="note">Not drawn, because they refused nothing: ${others.join(', ')}.</p>`}
<p class="scrub"><span aria-hidden="true">Look at a moment</span><input type="range" aria-label="Moment" min="0" max="${Math.max(0, requests.length - 1)}" value="0"></p>
</div>`,
    folded('These numbers as a table', numbers),
  )
}
