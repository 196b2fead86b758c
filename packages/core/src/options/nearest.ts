/** The name that is probably meant: at most two edits away, fewer than a third of the name. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  return known.find((each) => {
    const slips = distance(given.toLowerCase(), each.toLowerCase())
    return slips <= 2 && slips < each.length / 3
  })
}

/** Levenshtein's edit distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, substitution))
    }
    row = next
  }
  return row[b.length] as number
}
