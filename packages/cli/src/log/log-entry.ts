import type { IncomingHttpHeaders } from 'node:http'

/** The headers of an entry without a request, as in a replay that reads only client and cost. */
const NO_HEADERS: IncomingHttpHeaders = {}

/**
 * A request as a log records it, with the names that Express, Fastify and Koa use: functions of a
 * configuration file are called with it.
 */
export class LogEntry {
  /** ms since the epoch. */
  time = 0
  /** The number of its client, which identifies a client of the log: an address, a user, or what `--key` names. */
  client = 0
  /** The cost in units, by `--cost`. */
  cost = 1
  /** How long it took, by `--duration`, ms. */
  durationMs = 0
  /** The length of the entry's line, bytes. */
  size = 0
  /** The client's address, as it was written. */
  ip: string | undefined = undefined
  user: { readonly id: string } | undefined = undefined
  /** Empty where the request line could not be read. */
  method = ''
  /** Path and query. */
  url = ''
  headers: IncomingHttpHeaders = NO_HEADERS
  /** The status of the response. */
  status: number | undefined = undefined
  /** The length of the response's body, bytes. */
  bytes: number | undefined = undefined
  /** JSON lines and CSV: the whole line. */
  fields: Readonly<Record<string, unknown>> = {}

  get path(): string {
    const end = this.url.search(/[?#]/)
    return end < 0 ? this.url : this.url.slice(0, end)
  }

  get originalUrl(): string {
    return this.url
  }

  get query(): Readonly<Record<string, string>> {
    return Object.fromEntries(new URLSearchParams(this.url.slice(this.path.length + 1)))
  }

  /** Koa: where the user is. */
  get state(): { readonly user: { readonly id: string } | undefined } {
    return { user: this.user }
  }

  get socket(): { readonly remoteAddress: string | undefined } {
    return { remoteAddress: this.ip }
  }

  /** A header field; the log has `user-agent` and `referer` at most. */
  get(name: string): string | undefined {
    const value = this.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }
}
