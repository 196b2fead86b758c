/** Rows as lines: each column as wide as its longest cell, two spaces between them. Each row has as many cells. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) =>
    Math.max(...rows.map((row) => (row[i] as string).length)),
  )
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd(),
  )
}
