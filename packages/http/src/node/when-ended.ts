import type { ServerResponse } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { isClosed, whenClosed } from './when-closed.ts'

/** The place on a response for what watches it: one of each response, however many limiters. */
const WATCH = Symbol('sluice.watch')

type Watched = ServerResponse & { [WATCH]?: Watch }

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
  if (response.writableEnded && isClosed(response)) {
    callback()
    return
  }
  const watch = (response as Watched)[WATCH] ?? new Watch(response)
  watch.callbacks.push(callback)
  if (response.writableEnded) callback()
}

/** Reports that the application has ended a response on which its framework no longer calls `end`. */
export function noteEnd(response: ServerResponse): void {
  ;(response as Watched)[WATCH]?.ended()
}

class Watch {
  readonly callbacks: (() => void)[] = []
  /** The function that the application calls: its latest replacement of `end`, watched. */
  end: ServerResponse['end']
  readonly destroy: ServerResponse['destroy']
  readonly response: ServerResponse

  constructor(response: ServerResponse) {
    this.response = response
    this.end = this.watched(response.end)
    this.destroy = response.destroy
    ;(response as Watched)[WATCH] = this
    Object.defineProperty(response, 'end', END)
    response.destroy = destroyWatched
    response.on('pipe', watchFirstSource)
  }

  watched(end: ServerResponse['end']): ServerResponse['end'] {
    const watch = this
    return function (this: ServerResponse, ...args: Parameters<ServerResponse['end']>) {
      const result = end.apply(this, args)
      watch.ended()
      return result
    } as ServerResponse['end']
  }

  ended(): void {
    for (const each of this.callbacks) each()
  }
}

// The functions of a response are the same for all: with functions of its own, each would get a hidden class of its own.

const END: PropertyDescriptor = {
  configurable: true,
  enumerable: true,
  get(this: Watched) {
    return this[WATCH]?.end
  },
  set(this: Watched, given: ServerResponse['end']) {
    const watch = this[WATCH] as Watch
    watch.end = watch.watched(given)
  },
}

function destroyWatched(this: Watched, error?: Error): ServerResponse {
  const watch = this[WATCH] as Watch
  const isHere = !isClosed(watch.response)
  const result = watch.destroy.call(this, error)
  if (isHere) watch.ended()
  return result
}

function watchFirstSource(this: Watched, source: Readable): void {
  this.removeListener('pipe', watchFirstSource)
  watchSources(this, source, () => noteEnd(this))
}

/**
 * Calls back when the streams that the application has piped into a response have closed, and the
 * response too: a pipe ends no response whose client has gone, or whose source has failed. A source
 * that ended before may be followed by anything, so it says nothing.
 *
 * A source with a writable side may be destroyed for a client that has gone while what writes to it goes
 * on. If streams were piped into it, as into a compressor, they are the sources. If the application
 * writes to it, as to a PassThrough, there is no call.
 *
 * @param first the first of the sources
 */
function watchSources(response: ServerResponse, first: Readable, callback: () => void): void {
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
  watchSource(first)
  whenClosed(response, check)
}

function isStillWritten(source: Readable): boolean {
  const { writable, writableEnded } = source as Partial<Duplex>
  return writable !== undefined && writableEnded === false
}
