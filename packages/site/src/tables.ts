import type { MarkdownOptions } from 'vitepress'

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0]
type Token = ReturnType<Markdown['parse']>[number]

/** A cell with more characters than this takes several lines beside others: it gets room of its own. */
const LONG = 60

const ROLES: Readonly<Record<string, string>> = {
  table_open: 'table',
  thead_open: 'rowgroup',
  tbody_open: 'rowgroup',
  tr_open: 'row',
  th_open: 'columnheader',
  td_open: 'cell',
}

/**
 * Marks tables with long cells by the class `prose`, and these cells by `long`. On a phone such a table is a list
 * of its rows, so each of its cells says the heading of its column, and each part of it says what it is.
 */
export function markTables(md: Markdown): void {
  // VitePress writes tables without their attributes. They scroll, so the keyboard must get there.
  md.renderer.rules.table_open = (tokens, i, options, _, renderer) => {
    tokens[i]?.attrSet('tabindex', '0')
    return renderer.renderToken(tokens, i, options)
  }
  md.core.ruler.push('tables-on-site', ({ tokens }) => {
    for (const [i, { type }] of tokens.entries()) {
      if (type !== 'table_open') continue
      const end = tokens.findIndex((each, at) => at > i && each.type === 'table_close')
      markTable(tokens.slice(i, end))
    }
  })
}

function markTable(tokens: readonly Token[]): void {
  const cells = tokens.flatMap((token, i) =>
    /^t[hd]_open$/.test(token.type) ? [{ token, text: textOf(tokens[i + 1]) }] : [],
  )
  const long = cells.filter(({ token, text }) => token.type === 'td_open' && text.length > LONG)
  if (long.length === 0) return
  for (const { token } of long) token.attrJoin('class', 'long')
  const headings = cells.filter(({ token }) => token.type === 'th_open')
  const data = cells.filter(({ token }) => token.type === 'td_open')
  for (const [i, { token }] of data.entries()) {
    const heading = headings[i % headings.length]?.text
    if (heading) token.attrSet('data-label', heading)
  }
  tokens[0]?.attrJoin('class', 'prose')
  for (const token of tokens) {
    const role = ROLES[token.type]
    if (role !== undefined) token.attrSet('role', role)
  }
}

function textOf(inline: Token | undefined): string {
  return (inline?.children ?? []).map(({ content }) => content).join('')
}
