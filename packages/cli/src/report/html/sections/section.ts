import { type Child, type Html, html } from '../html.ts'

/** @param id the section's id, which also names its heading */
export function section(id: string, title: string, ...content: readonly Child[]): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${content}
</section>`
}
