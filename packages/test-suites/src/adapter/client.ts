import { Agent, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import supertest, { type Response } from 'supertest'
import { Reply } from './reply.ts'
import { assertWellFormed } from './well-formed.ts'

export { Reply } from './reply.ts'

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
