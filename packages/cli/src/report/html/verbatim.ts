import { type Html, html } from './html.ts'

/** A text of the log, letter by letter. */
export function verbatim(text: string): Html {
  return html`<code><bdi>${text}</bdi></code>`
}
