import type { UnderlyingByteSource } from 'node:stream/web'

/** The most of a body that is kept for `settle`, characters: its end. */
const MAX_KEPT = 1_048_576

/**
 * Makes a response whose body tells when it has ended: read to its end, failed, cancelled, or nobody has read
 * of it for `quietMs`. It is read only as its reader asks.
 *
 * @param ended called once, with the text that was read, if `keepsText`
 * @returns the same response if it has no body, or one that can't be read here
 */
export function watchResponse(
  response: Response,
  quietMs: number,
  keepsText: boolean,
  ended: (text: string) => void,
): Response {
  const { body } = response
  if (typeof body?.getReader !== 'function' || body.locked) {
    ended('')
    return response
  }
  // Not before its first read: until then, the platform frees the connection of a response that nobody keeps.
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const decoder = new TextDecoder()
  let text = ''
  let isOver = false
  const keep = (chunk: Uint8Array) => {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > 2 * MAX_KEPT) text = text.slice(-MAX_KEPT)
  }
  const end = () => {
    clearTimeout(timer)
    if (isOver) return
    isOver = true
    ended(text.slice(-MAX_KEPT))
    text = ''
  }
  const watch = () => setTimeout(end, quietMs).unref()
  let timer = watch()
  const source: UnderlyingByteSource = {
    type: 'bytes',
    pull: async (controller) => {
      clearTimeout(timer)
      reader ??= body.getReader()
      try {
        let read = await reader.read()
        while (read.value?.byteLength === 0) read = await reader.read()
        if (read.done) {
          end()
          controller.close()
          controller.byobRequest?.respond(0)
        } else {
          if (keepsText && !isOver) keep(read.value)
          if (!isOver) timer = watch()
          // A copy, since this takes the memory away: that of a Buffer is shared with others.
          controller.enqueue(new Uint8Array(read.value))
        }
      } catch (error) {
        end()
        controller.error(error)
      }
    },
    cancel: (reason) => {
      end()
      return (reader ?? body).cancel(reason)
    },
  }
  const { url, redirected, type, status, statusText, ok, headers } = response
  const Same = response.constructor as typeof Response
  const watched = new Same(new ReadableStream(source) as ReadableStream<Uint8Array>, { headers })
  return dressed(watched, { url, redirected, type, status, statusText, ok })
}

/**
 * Copies the beginning of a body while somebody else reads the body.
 *
 * @param most bytes
 * @returns undefined if there is no body, or it can't be read here
 */
export function copyBody(owner: Request | Response, most: number) {
  const { body, bodyUsed } = owner
  if (typeof body?.getReader !== 'function' || body.locked || bodyUsed) return undefined
  const reader = (owner.clone().body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let isWhole = false
  // Otherwise the rest would be kept. Not awaited: it takes as long as the owner's reader.
  const stop = () => void reader.cancel().catch(() => {})
  const copy = async () => {
    for (let size = 0; size <= most; ) {
      const { done, value } = await reader.read()
      isWhole = done
      if (done) return
      // A Buffer's own slice would share memory with its owner, who may use it again.
      chunks.push(new Uint8Array(value.subarray(0, most - size)))
      size += value.byteLength
    }
    stop()
  }
  return {
    chunks,
    // The one who reads the body gets its error.
    ended: copy().catch(() => {}),
    /** Stops it. @returns the body, if that is whole */
    end: () => {
      stop()
      return isWhole ? new Blob(chunks) : undefined
    },
  }
}

/** The properties that its constructor can't set, or not to all values that servers send. */
type Facts = Pick<Response, 'url' | 'redirected' | 'type' | 'status' | 'statusText' | 'ok'>

/** Gives these facts to a constructed response, and to its clones. */
function dressed(response: Response, facts: Facts) {
  const clone = () => dressed(Object.getPrototypeOf(response).clone.call(response), facts)
  for (const [name, value] of Object.entries({ ...facts, clone }))
    Object.defineProperty(response, name, { value, configurable: true })
  return response
}
