/** Blanks that may surround a field, an element or a parameter (RFC 9110 §5.6.3). */
const BLANKS = /^[ \t]+|[ \t]+$/g

/**
 * The elements of `Forwarded` (RFC 7239 §4) from the right, at most `most`, without empty ones.
 * Read from the right, an open quote that a client has written can't swallow what the proxies
 * behind it have added.
 */
export function lastElements(field: string, most: number): string[] {
  const elements: string[] = []
  let end = field.length
  let quoted = false
  for (let i = end - 1; i >= -1 && elements.length < most; i -= 1) {
    if (field[i] === '"' && !isEscaped(field, i)) quoted = !quoted
    if (i >= 0 && (quoted || field[i] !== ',')) continue
    const element = field.slice(i + 1, end).replace(BLANKS, '')
    if (element !== '') elements.push(element)
    end = i
  }
  return elements
}

/** The most characters of an element: longer than any that a proxy writes. */
const MAX_ELEMENT_LENGTH = 2048

/** `name=token` or `name="quoted"`, up to the next pair. */
const PAIR =
  /^[ \t;]*([\w!#$%&'*+.^`|~-]+)=([\w!#$%&'*+.^`|~:[\]-]+|"(?:[^"\\]|\\.)*")[ \t]*(?:;|$)/

/** RFC 7239 §6: an address or a name that hides it, with or without a port; IPv6 in brackets. */
const NODE = /^(?:([\d.]+|unknown|_[\w.-]+)|\[([\da-f:.]+)\])(?::(?:\d{1,5}|_[\w.-]+))?$/i

/**
 * The node that an element names in its `for`, without brackets and port: an address, a name such
 * as `_hidden`, or `unknown`, which is also what becomes of an element that is malformed or has not
 * exactly one `for`.
 */
export function forNode(element: string): string {
  let found: string | undefined
  let rest = element.length > MAX_ELEMENT_LENGTH ? '' : element
  while (rest !== '') {
    const [pair, name = '', value] = PAIR.exec(rest) ?? []
    const isFor = name.toLowerCase() === 'for'
    if (pair === undefined || (isFor && found !== undefined)) return 'unknown'
    if (isFor) found = value
    rest = rest.slice(pair.length)
  }
  return bareNode(found ?? '')
}

function bareNode(value: string): string {
  const text = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
  const [, node, ipv6] = NODE.exec(text) ?? []
  return node ?? ipv6 ?? 'unknown'
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}
