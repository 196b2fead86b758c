import type { UnderlyingByteSource } from 'node:stream/web'

/** The most of a body that is kept for `settle`, bytes: its end. */
const MAX_KEPT = 1_048_576

/**
 * Makes a response whose body tells when it has ended: read to its end, failed, cancelled, or nobody has read
 * of it for `quietMs`. It is read only as its reader asks.
 *
 * @param ended called once, with the text of what was read, if `keepsText`
 */
export function watchResponse(
  response: Response,
  quietMs: number,
  keepsText: boolean,
  ended: (text: string) => void,
): Response {
  const { body } = response
  if (body === null) {
    ended('')
    return response
  }
  const reader = body.getReader()
  const kept: Uint8Array[] = []
  let size = 0
  let isOver = false
  const keep = (chunk: Uint8Array) => {
    kept.push(chunk.slice())
    size += chunk.byteLength
    while (size - (kept[0] as Uint8Array).byteLength >= MAX_KEPT)
      size -= (kept.shift() as Uint8Array).byteLength
  }
  const end = () => {
    clearTimeout(timer)
    if (isOver) return
    isOver = true
    ended(Buffer.concat(kept.splice(0)).toString())
  }
  const watch = () => setTimeout(end, quietMs).unref()
  let timer = watch()
  const source: UnderlyingByteSource = {
    type: 'bytes',
    pull: async (controller) => {
      clearTimeout(timer)
      try {
        const { done, value } = await reader.read()
        if (done) {
          end()
          controller.close()
          controller.byobRequest?.respond(0)
        } else {
          if (keepsText && !isOver) keep(value)
          if (!isOver) timer = watch()
          controller.enqueue(value)
        }
      } catch (error) {
        end()
        controller.error(error)
      }
    },
    cancel: (reason) => {
      end()
      return reader.cancel(reason)
    },
  }
  const { url, redirected, type } = response
  const Same = response.constructor as typeof Response
  const watched = new Same(new ReadableStream(source) as ReadableStream<Uint8Array>, response)
  return dressed(watched, { url, redirected, type })
}

/** Gives a constructed response, and its clones, the facts that its constructor can't set. */
function dressed(response: Response, facts: Pick<Response, 'url' | 'redirected' | 'type'>) {
  const clone = () => dressed(Object.getPrototypeOf(response).clone.call(response), facts)
  for (const [name, value] of Object.entries({ ...facts, clone }))
    Object.defineProperty(response, name, { value, configurable: true })
  return response
}
