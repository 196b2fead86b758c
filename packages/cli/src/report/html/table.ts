import { type Child, type Html, html } from './html.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => Child
  /** Numbers are aligned right. */
  readonly number?: boolean
}

/**
 * A table whose first column names its rows. On a phone, where `cards`, each row is a card.
 *
 * @param columns false: left out
 */
export function table<Row>(
  caption: string,
  columns: readonly (Column<Row> | false)[],
  rows: readonly Row[],
  { cards = false } = {},
): Html {
  const shown = columns.filter((column) => column !== false)
  // Drawn as cards, it needs a role to remain a table for screen readers.
  const role = (name: string) => cards && html` role="${name}"`
  const head = shown.map(
    (column) =>
      html`<th scope="col"${role('columnheader')}${toTheRight(column)}>${column.title}</th>`,
  )
  const bodyCell = (column: Column<Row>, row: Row) =>
    html`<td${role('cell')}${cards && html` data-title="${column.title}"`}${toTheRight(column)}>${column.cell(row)}</td>`
  const body = rows.map((row) => {
    const [first, ...rest] = shown
    const name = html`<th scope="row"${role('rowheader')}>${first?.cell(row)}</th>`
    return html`<tr${role('row')}>${name}${rest.map((column) => bodyCell(column, row))}</tr>\n`
  })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
<table${cards && html` class="cards"`}${role('table')}>
<caption class="unseen">${caption}</caption>
<thead${role('rowgroup')}><tr${role('row')}>${head}</tr></thead>
<tbody${role('rowgroup')}>
${body}</tbody>
</table></div>`
}

const toTheRight = ({ number }: { readonly number?: boolean }) =>
  number === true && html` class="number"`

/** A long table, shut until it is asked for. */
export function folded(summary: string, content: Html): Html {
  return html`<details><summary>${summary}</summary>${content}</details>`
}
