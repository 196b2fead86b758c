import { type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
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
  const place = 'socketPath' in target ? target : { ...target, host: to ?? target.host }
  const sent = request({
    ...place,
    method,
    path,
    headers: { ...headers, Connection: 'close' },
    localAddress: from,
    agent: false,
  })
  const received = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end()
  })
  const reply = new Reply(received, await text(received))
  assertWellFormed(reply)
  return reply
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
