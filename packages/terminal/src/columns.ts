/**
 * A table as lines: each column as wide as its longest cell, two spaces between them.
 *
 * @param rows with the same number of cells each
 * @param aligned `right`: all columns but the first
 */
export function columns(
  rows: readonly (readonly string[])[],
  aligned: 'left' | 'right' = 'left',
): string[] {
  const widths = (rows[0] ?? []).map((_, i) =>
    Math.max(...rows.map((row) => (row[i] as string).length)),
  )
  const padded = (cell: string, i: number) => {
    const width = widths[i] as number
    return aligned === 'right' && i > 0 ? cell.padStart(width) : cell.padEnd(width)
  }
  return rows.map((row) => row.map(padded).join('  ').trimEnd())
}
