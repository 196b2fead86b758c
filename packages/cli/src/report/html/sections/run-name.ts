import type { Run } from '../../report.ts'
import { colourOf } from '../colour.ts'
import { type Html, html } from '../html.ts'

/** The name of a run, with a swatch of its colour. */
export function runName(run: Run): Html {
  return html`<span class="run ${colourOf(run).slice(2)}"><bdi>${run.name}</bdi></span>`
}
