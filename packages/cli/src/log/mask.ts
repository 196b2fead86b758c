import { isIP } from 'node:net'
import type { LogEntry } from './log-entry.ts'

/** The parts of a log's clients and text that may be shown. It is short, whatever the log has. */
export interface Mask {
  /** Whether it hides anything. */
  readonly hides: boolean
  /** A client. @param number its place among the clients of the log, from 0 */
  client(key: string, number: number): string
  /** A line of the log, or a part of one. */
  text(text: string): string
  /** A text about a request, such as the message of an error. */
  message(text: string, request: LogEntry): string
}

/** Characters of a text of the log, and of a message: longer ones are cut. */
const LONGEST_TEXT = 100
const LONGEST_MESSAGE = 500

/** The mask that leaves everything as it is. */
export const unmasked: Mask = {
  hides: false,
  client: (key) => cut(key, LONGEST_TEXT),
  text: (text) => cut(text, LONGEST_TEXT),
  message: (text) => cut(text, LONGEST_MESSAGE),
}

/**
 * The mask that hides who clients are. It shows enough of a client to find it again in the log: its network,
 * or the first letters, and its number. Of a text it shows the shape: signs as they are, `x` for each letter,
 * `0` for each digit.
 */
export const masked: Mask = {
  hides: true,
  client: (key, number) => `${hidden(key)} #${number + 1}`,
  text: (text) => shapeOf(cut(text, LONGEST_TEXT)),
  message: (text, request) => withoutNames(cut(text, LONGEST_MESSAGE), request),
}

function cut(text: string, longest: number): string {
  // A copy: a slice would keep the whole text in memory.
  return text.length > longest ? `${Buffer.from(text.slice(0, longest - 1))}…` : text
}

function hidden(key: string): string {
  const network = networkOf(key)
  if (network !== undefined) return network
  const [, kind = '', name = ''] = /^(user:|key:)?(.*)$/s.exec(key) ?? []
  return kind + (networkOf(name) ?? firstLetters(name))
}

/** The network of an address: of IPv4 the first 24 bits; of IPv6 the first 32, which are a provider's. */
function networkOf(text: string): string | undefined {
  const [address = ''] = text.split('/')
  const version = isIP(address)
  if (version === 4) return address.replace(/\d+$/, 'x')
  if (version !== 6) return undefined
  const [first = '', ...rest] = address.split('::')
  const groups = first === '' ? [] : first.split(':')
  if (rest.length > 0) groups.push('0', '0')
  return `${groups.slice(0, 2).join(':')}:x`
}

/** The first letters of a name: no more than a third of it, and no more than two. */
function firstLetters(name: string): string {
  const letters = [...name.slice(0, 8)]
  return `${letters.slice(0, Math.min(2, Math.floor(letters.length / 3))).join('')}…`
}

function shapeOf(text: string): string {
  return text.replace(/[0-9]/g, '0').replace(/[a-z]|[^\p{ASCII}…]/giu, 'x')
}

const EMAIL = /[^\s"'<>()@]+@[^\s"'<>()@]+/g
const IPV4 = /\d{1,3}(?:\.\d{1,3}){3}/g
const IPV6 = /(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}/gi

function withoutNames(text: string, { ip, user, url, path }: LogEntry): string {
  let shown = text
  for (const name of [url.slice(path.length + 1), user?.id, ip]) {
    if (name) shown = shown.replaceAll(asWord(name), '…')
  }
  return shown
    .replace(EMAIL, '…')
    .replace(IPV4, (address) => networkOf(address) ?? '…')
    .replace(IPV6, (address) => networkOf(address) ?? address)
}

/** Matches a name, but not within other words: a user may be called `a`. */
function asWord(name: string): RegExp {
  const literal = name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'gu')
}
