import type { IncomingMessage } from 'node:http'

/** The response as it was on the wire. */
export class Reply {
  readonly status: number
  readonly body: string
  readonly trailers: readonly string[]
  readonly #lines: readonly (readonly [name: string, value: string])[]

  constructor(message: IncomingMessage, body: string) {
    this.status = message.statusCode as number
    this.body = body
    this.trailers = message.rawTrailers
    const { rawHeaders } = message
    this.#lines = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] as string] as const] : [],
    )
  }

  /** The value of each line of the field. */
  all(name: string): string[] {
    return this.#lines.filter(([each]) => each === name.toLowerCase()).map(([, value]) => value)
  }

  /** The one line of the field, or undefined if there is none. */
  field(name: string): string | undefined {
    const [value, ...others] = this.all(name)
    if (others.length > 0) throw new Error(`${name} is on ${others.length + 1} lines`)
    return value
  }

  /** The number that the field is. */
  seconds(name: string): number {
    return Number(this.field(name) ?? Number.NaN)
  }

  /** Units left of the only policy, by RateLimit. */
  get remaining(): number {
    return Number(/;r=(\d+)/.exec(this.field('RateLimit') ?? '')?.[1])
  }

  /** Every rate-limit field and Retry-After, by lower-case name. */
  limitFields(): Record<string, string> {
    return Object.fromEntries(
      this.#lines.filter(([name]) => /^(x-)?ratelimit|^retry-after$/.test(name)),
    )
  }
}
