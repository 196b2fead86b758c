import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** A connection of a client from which nothing comes, and which swallows what it gets. */
class SwallowingSocket extends Duplex {
  readonly remoteAddress = '192.0.2.1'

  override _read(): void {}

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done()
  }

  override _writev(_chunks: unknown, done: () => void): void {
    done()
  }
}

const socket = new SwallowingSocket() as unknown as Socket

/**
 * Hands a request to an application, as Node's server would after it has read one, without a server
 * or a network in between.
 *
 * @returns the response, when it has ended and been closed
 */
export function inject(listener: RequestListener): Promise<ServerResponse> {
  const request = new IncomingMessage(socket)
  request.method = 'GET'
  request.url = '/'
  request.httpVersionMajor = 1
  request.httpVersionMinor = 1
  request.httpVersion = '1.1'
  request.headers = {
    host: 'example.com',
    'user-agent': 'bench',
    accept: 'application/json',
    connection: 'keep-alive',
  }
  request.complete = true
  request.push(null)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = true
  response.assignSocket(socket)
  return new Promise((resolve) => {
    response.on('finish', () => {
      response.detachSocket(socket)
      process.nextTick(() => {
        response.destroyed = true
        response.emit('close')
        resolve(response)
      })
    })
    listener(request, response)
  })
}
