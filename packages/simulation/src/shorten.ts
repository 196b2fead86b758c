/** Among so many kinds of lines of one party, those that come again are counted. */
const KINDS = 6

/**
 * Makes the story of many equal events short: of lines of one party that differ only in numbers, the first is kept,
 * with how many others follow, and until when.
 *
 * @param story lines, each with its time, who, and what
 */
export function shorten(story: readonly string[]): string[] {
  const kept: { readonly line: string; more: number; until: string }[] = []
  const recent = new Map<string, Map<string, (typeof kept)[number]>>()
  for (const line of story) {
    const [, time = '', who = '', what = ''] = /^ *(\S+) {2}(.*?): (.*)$/.exec(line) ?? []
    const kinds = recent.get(who) ?? new Map()
    recent.set(who, kinds)
    const kind = what.replaceAll(/[\d.]+/g, '#')
    const known = kinds.get(kind)
    if (known === undefined) {
      const first = { line, more: 0, until: time }
      kept.push(first)
      kinds.set(kind, first)
      if (kinds.size > KINDS) kinds.delete(kinds.keys().next().value)
    } else {
      known.more += 1
      known.until = time
    }
  }
  return kept.map(({ line, more, until }) =>
    more === 0 ? line : `${line} (and ${more} more like it until ${until})`,
  )
}
