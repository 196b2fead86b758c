import { Agent, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import supertest, { type Response } from 'supertest'
import { assertWellFormed } from './well-formed.ts'

/** Where a server listens. */
export type Target =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string }

export interface SendOptions {
  /** Default: GET. */
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** The loopback address to come from, such as `127.0.0.2`. */
  readonly from?: string
  /** The loopback address to go to. Default: the server's own. */
  readonly to?: string
}

/** The response as it was on the wire. */
export class Reply {
  readonly status: number
  readonly body: string
  readonly trailers: readonly string[]
  private readonly lines: readonly (readonly [name: string, value: string])[]

  constructor(message: IncomingMessage, body: string) {
    this.status = message.statusCode as number
    this.body = body
    this.trailers = message.rawTrailers
    const { rawHeaders } = message
    this.lines = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] as string] as const] : [],
    )
  }

  /** The value of each line of the field. */
  all(name: string): string[] {
    return this.lines.filter(([each]) => each === name.toLowerCase()).map(([, value]) => value)
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
      this.lines.filter(([name]) => /^(x-)?ratelimit|^retry-after$/.test(name)),
    )
  }
}

/** Sends one request on its own connection, and checks that the fields of the answer are well-formed. */
export async function send(target: Target, options: SendOptions = {}): Promise<Reply> {
  const { method = 'GET', path = '/', headers = {}, from, to } = options
  const test = supertest(baseOf(target, to))[method.toLowerCase() as 'get'](path)
  // supertest's own types know of no list of values, of which each makes a line.
  for (const [name, value] of Object.entries(headers)) test.set(name, value as string)
  if (from !== undefined) test.agent(new Agent({ localAddress: from }))
  const response = await test.set('Connection', 'close').buffer(true).parse(asText)
  const { res } = response as Response & { readonly res: IncomingMessage }
  const reply = new Reply(res, method === 'HEAD' ? '' : response.body)
  assertWellFormed(reply)
  return reply
}

function baseOf(target: Target, to: string | undefined): string {
  if ('socketPath' in target) return `http+unix://${encodeURIComponent(target.socketPath)}`
  const host = to ?? target.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${target.port}`
}

/** A body as it is on the wire, whatever its type. */
function asText(response: Response, done: (error: Error | null, body: string) => void): void {
  let body = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    body += chunk
  })
  response.on('end', () => done(null, body))
}

/** A connection that has sent this. It reads nothing unless the caller listens, and errors are ignored. */
export function openRaw(target: Target, text: string): Socket {
  const socket = connect('port' in target ? target : { path: target.socketPath })
  socket.on('error', () => {})
  socket.write(text)
  return socket
}

/** Everything that a server sends on a connection, in answer to raw request text. */
export function sendRaw(target: Target, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = openRaw(target, text)
    let received = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}
