import type { Report } from '../../report.ts'
import { type Html, html } from '../html.ts'
import { section } from './section.ts'

export function findings({ findings }: Report): Html | undefined {
  if (findings.length === 0) return undefined
  const items = findings.map((finding) => html`<li>${finding}</li>`)
  return section('findings', 'What stands out', html`<ul class="findings">${items}</ul>`)
}
