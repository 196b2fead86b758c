import type { ServerResponse } from 'node:http'
import { whenSourcesClosed } from './piped-sources.ts'
import { isClosed } from './when-closed.ts'

type End = ServerResponse['end']

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
  const watched = (end: End): End =>
    function (this: ServerResponse, ...args: Parameters<End>) {
      const result = end.apply(this, args)
      noteEnd(response)
      return result
    } as End
  let end = watched(response.end)
  Object.defineProperty(response, 'end', {
    configurable: true,
    enumerable: true,
    get: () => end,
    set(given: End) {
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
