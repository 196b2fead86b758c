import escapeHtml from 'escape-html'

/** Markup that may go into the page as it is. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

/** False and undefined give nothing; a text is escaped. */
export type Child = Html | string | number | false | undefined | readonly Child[]

/** Markup in which the values of `${}` are escaped, unless it is markup itself. Attributes in quotes. */
export function html(strings: TemplateStringsArray, ...children: readonly Child[]): Html {
  return new Html(String.raw({ raw: strings }, ...children.map(markupOf)))
}

function markupOf(child: Child): string {
  if (child === false || child === undefined) return ''
  if (child instanceof Html) return child.markup
  if (typeof child === 'object') return child.map(markupOf).join('')
  return escapeHtml(String(child))
}
