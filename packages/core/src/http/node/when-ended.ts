import type { ServerResponse } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { isClosed, whenClosed } from './when-closed.ts'

/** What to call when the application ends a response: one accessor each, however many limiters. */
const onEnd = new WeakMap<ServerResponse, (() => void)[]>()

/**
 * Calls back when the application has ended a response, perhaps several times; immediately if it has
 * ended. That is:
 *
 * - after each call of `end`. Middleware may replace it later on, to compress the body for instance:
 *   its `end` is watched like the one that it replaces, so that a call is seen even if the
 *   replacement never passes it on;
 * - when the application destroys a response whose client is there, as `pipeline` does if its source
 *   fails. Of a client that has gone, `pipeline` destroys it while its source may still work;
 * - when the streams that were piped into it have closed.
 */
export function whenEnded(response: ServerResponse, callback: () => void): void {
  const callbacks = onEnd.get(response) ?? watch(response)
  callbacks.push(callback)
  if (response.writableEnded) callback()
}

/** Reports that the application has ended a response on which its framework no longer calls `end`. */
export function noteEnd(response: ServerResponse): void {
  for (const each of onEnd.get(response) ?? []) each()
}

function watch(response: ServerResponse): (() => void)[] {
  const callbacks: (() => void)[] = []
  onEnd.set(response, callbacks)
  const watched = (end: ServerResponse['end']) =>
    function (this: ServerResponse, ...args: Parameters<ServerResponse['end']>) {
      const result = end.apply(this, args)
      noteEnd(response)
      return result
    } as ServerResponse['end']
  let end = watched(response.end)
  Object.defineProperty(response, 'end', {
    configurable: true,
    enumerable: true,
    get: () => end,
    set(given: ServerResponse['end']) {
      end = watched(given)
    },
  })
  const { destroy } = response
  response.destroy = function (this: ServerResponse, error) {
    const isHere = !isClosed(response)
    const result = destroy.call(this, error)
    if (isHere) noteEnd(response)
    return result
  }
  whenSourcesClosed(response, () => noteEnd(response))
  return callbacks
}

/**
 * Calls back when the streams that the application has piped into a response have closed, and the
 * response too: a pipe ends no response whose client has gone, or whose source has failed. A source
 * that ended before may be followed by anything, so it says nothing.
 *
 * A source with a writable side may be destroyed for a client that has gone while what writes to it goes
 * on. If streams were piped into it, as into a compressor, they are the sources. If the application
 * writes to it, as to a PassThrough, there is no call.
 */
function whenSourcesClosed(response: ServerResponse, callback: () => void): void {
  const flowing = new Set<Readable>()
  let hasClosed = false
  const check = () => {
    if (hasClosed && flowing.size === 0 && isClosed(response)) callback()
  }
  const watchSource = (source: Readable) => {
    flowing.add(source)
    let hasSources = false
    const over = () => {
      if (!flowing.has(source)) return
      const isGone = isClosed(response)
      if (isGone && isStillWritten(source) && !hasSources) return
      flowing.delete(source)
      if (isGone || !source.readableEnded) hasClosed = true
      check()
    }
    source.once('end', over)
    source.once('close', over)
    // A pipe into a stream that has been destroyed ends with this event.
    source.on('unpipe', (from: Readable) => {
      if (!source.destroyed || !isClosed(response)) return
      hasSources = true
      watchSource(from)
      over()
    })
    if (source.closed) over()
  }
  response.on('pipe', watchSource)
  whenClosed(response, check)
}

function isStillWritten(source: Readable): boolean {
  const { writable, writableEnded } = source as Partial<Duplex>
  return writable !== undefined && writableEnded === false
}
