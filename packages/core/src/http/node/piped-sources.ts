import type { ServerResponse } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { isClosed, whenClosed } from './when-closed.ts'

/**
 * Calls back when the streams that the application has piped into a response have closed, and the
 * response too: a pipe ends no response whose client has gone, or whose source has failed. A source
 * that ended before may be followed by anything, so it says nothing.
 *
 * A source with a writable side, such as a PassThrough, may be destroyed for a client that has gone
 * while the application still writes to it. Then there is no call.
 */
export function whenSourcesClosed(response: ServerResponse, callback: () => void): void {
  const flowing = new Set<Readable>()
  let hasClosed = false
  const check = () => {
    if (hasClosed && flowing.size === 0 && isClosed(response)) callback()
  }
  response.on('pipe', (source: Readable) => {
    flowing.add(source)
    const over = () => {
      if (!flowing.has(source)) return
      const isGone = isClosed(response)
      if (isGone && isStillWritten(source)) return
      flowing.delete(source)
      if (isGone || !source.readableEnded) hasClosed = true
      check()
    }
    source.once('end', over)
    source.once('close', over)
  })
  whenClosed(response, check)
}

function isStillWritten(source: Readable): boolean {
  const { writable, writableEnded } = source as Partial<Duplex>
  return writable !== undefined && writableEnded === false
}
