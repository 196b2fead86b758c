import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { Version } from './servers.ts'

/** A client with a connection and one request of its own. */
export interface Client {
  /** The status of the response, once it has come. */
  status: number | undefined
  leave(): void
}

export function send(port: number, version: Version): Client {
  return version === 'HTTP/2' ? sendHttp2(port) : sendHttp1(port)
}

function sendHttp1(port: number): Client {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  const client: Client = { status: undefined, leave: () => socket.destroy() }
  socket.on('error', () => {})
  socket.once('data', (text) => {
    client.status = Number(/^HTTP\/1\.1 (\d+)/.exec(String(text))?.[1])
  })
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  return client
}

function sendHttp2(port: number): Client {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  const client: Client = { status: undefined, leave: () => session.destroy() }
  session.on('error', () => {})
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => {})
  stream.once('response', (headers) => {
    client.status = headers[':status']
  })
  stream.resume().end()
  return client
}
