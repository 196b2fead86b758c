import type { ServerResponse } from 'node:http'

type End = ServerResponse['end']

/** What to call when the application ends a response: one accessor each, however many limiters. */
const onEnd = new WeakMap<ServerResponse, (() => void)[]>()

/**
 * Calls back after each call of the response's `end`, and immediately if it has ended. Middleware may replace `end` later on, to
 * compress the body for instance: its `end` is watched like the one that it replaces, so that a
 * call is seen even if the replacement never passes it on.
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
  return callbacks
}
