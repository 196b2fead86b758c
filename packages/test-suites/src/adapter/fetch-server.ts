import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** @param address the client's; undefined on a Unix socket */
type FetchHandler = (request: Request, address: string | undefined) => Promise<Response>

/**
 * Node's server for a function of a `Request`, so that the adapter suite can send requests to it.
 * It aborts `request.signal` when the client leaves. It passes no request bodies on: the suite sends
 * none.
 */
export function fetchServer(handle: FetchHandler): Server {
  return createServer((incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch((error) => outgoing.destroy(error))
  })
}

async function answer(
  handle: FetchHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const leaving = new AbortController()
  outgoing.once('close', () => leaving.abort())
  const { method, url, socket } = incoming
  const request = new Request(`http://localhost${url}`, {
    method: method as string,
    // Node has joined the values of all fields that a request of the suite repeats.
    headers: incoming.headers as Record<string, string>,
    signal: leaving.signal,
  })
  const { status, headers, body } = await handle(request, socket.remoteAddress)
  outgoing.statusCode = status
  outgoing.setHeaders(headers)
  if (body === null) outgoing.end()
  else await pipeline(Readable.fromWeb(body), outgoing)
}
