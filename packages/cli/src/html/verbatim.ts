import { type Html, html } from './html.ts'

/** A text of the log, letter by letter: control characters are shown, not obeyed. */
export function verbatim(text: string): Html {
  return html`<code><bdi>${text.replace(CONTROLS, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${code}`
  })}</bdi></code>`
}

/** C0 and C1, what turns the direction of writing, and halves of a character. */
const CONTROLS = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
