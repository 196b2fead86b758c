/** Matches paths that can be read in several ways: escapes, odd separators, dot segments, an origin. */
const ODD = /[%\\#;]|\/\/|\/\.|^(?!\/)/
/** A client may write a whole URL instead of a path (RFC 9112 §3.2.2). */
const ORIGIN = /^[^:/]+:\/\/[^/]*/
/** The escapes that RFC 3986 §6.2.2.2 decodes: of letters, digits and `-._~`. */
const UNRESERVED = /%(?:2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi
const DOT_SEGMENT = /(?:^|[/\\])\.\.?(?:[/\\]|$)/
/** A handler may decode a path that its framework has decoded already. */
const MAX_DECODINGS = 2

/**
 * The other readings of a path as the client wrote it, in which a handler may find its route; undefined
 * if there are none but the path itself. Of equivalent ones every reader may take one for the other; the
 * rest are those of a reader that decodes too much.
 *
 * - Equivalent are the normalized path (RFC 3986 §6.2.2) with single slashes, as routers mount paths,
 *   and the path of a `URL` made of it, for which `//x/login` names a host.
 * - A handler may also decode the whole path, cut it at `?`, `#` or `;`, make a `URL` of it, and
 *   resolve its dots.
 *
 * @param other path of the request from another root; its readings are found too
 */
export function otherReadings(
  path: string,
  other?: string,
): { path: string; isEquivalent: boolean }[] | undefined {
  if (other !== undefined) {
    const both = [path, other].flatMap((each) => otherReadings(each) ?? [])
    return both.length === 0 ? undefined : both
  }
  if (!ODD.test(path)) return undefined
  const readings = new Map<string, boolean>()
  const add = (read: string, isEquivalent: boolean) => {
    const resolved = resolve(read.replace(ORIGIN, ''))
    readings.set(resolved, isEquivalent || readings.get(resolved) === true)
  }
  let texts = new Set([path])
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings += 1) {
    for (const text of [...texts]) texts.add(pathOfUrl(text))
    for (const text of texts) {
      if (decodings === 0)
        add(text.replace(UNRESERVED, decodeURIComponent).replace(/#.*/s, ''), true)
      add(cut(text), DOT_SEGMENT.test(cut(text)))
    }
    texts = new Set([...texts].filter((each) => each.includes('%')).map(decode))
  }
  return [...readings].map(([read, isEquivalent]) => ({ path: read, isEquivalent }))
}

/** The path as a handler reads it that parses the request's target. */
function pathOfUrl(path: string): string {
  try {
    return new URL(path, 'http://a').pathname
  } catch {
    return path
  }
}

/** Decodes escapes, and leaves other text; bytes that are no UTF-8 become U+FFFD. Never throws. */
function decode(path: string): string {
  return new URLSearchParams(`a=${path.replace(/[+&]/g, encodeURIComponent)}`).get('a') as string
}

function cut(path: string): string {
  return path.replace(/[?#;].*/s, '')
}

/**
 * The path without empty segments and dot segments (RFC 3986 §5.2.4). A backslash is a slash, as in the URL
 * Standard.
 */
function resolve(path: string): string {
  const segments: string[] = []
  for (const each of path.replaceAll('\\', '/').split('/')) {
    if (each === '..') segments.pop()
    else if (each !== '.' && each !== '') segments.push(each)
  }
  return `/${segments.join('/')}`
}
