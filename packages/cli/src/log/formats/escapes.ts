const NAMED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** A quoted field as it was before nginx (`\x22`) or Apache (`\"`, `\t`) escaped it. */
export function unescapeField(field: string): string {
  if (!field.includes('\\')) return field
  // Adjacent escaped bytes may be one character of UTF-8.
  return field.replace(/(?:\\x[\da-f]{2})+|\\(.)/gis, (bytes, character?: string) =>
    character === undefined
      ? Buffer.from(bytes.replaceAll(/\\x/gi, ''), 'hex').toString('utf8')
      : (NAMED[character] ?? character),
  )
}
