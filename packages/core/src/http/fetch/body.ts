import type { UnderlyingSource } from 'node:stream/web'

export type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** Turns of the queue of microtasks in which Node 20 to 26 give what they have of a text, twice over. */
const TURNS = 12

/** How many chunks are read of a body before its reader asks for them: text is one. */
const MAX_CHUNKS = 2

/**
 * Reads what a body has at once, without waiting for a source. A text or JSON is complete then, so the
 * application has done its work, whether or not anybody ever reads the response.
 *
 * @returns the beginning of the body, whether that is all of it, and a read that has no result yet
 */
export async function readStart(body: Body) {
  const reader = body.getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  while (chunks.length <= MAX_CHUNKS) {
    const pending = reader.read()
    const read = await soon(pending)
    if (read === undefined) return { chunks, isComplete: false, reader, pending }
    if (read.done) return { chunks, isComplete: true, reader, pending: undefined }
    chunks.push(read.value)
  }
  return { chunks, isComplete: false, reader, pending: undefined }
}

/** The result, if there is one without waiting; undefined too if there is an error. */
async function soon<T>(pending: Promise<T>): Promise<T | undefined> {
  let result: T | undefined
  pending.then(
    (read) => {
      result = read
    },
    () => {},
  )
  for (let i = 0; i < TURNS && result === undefined; i += 1) await undefined
  return result
}

/** Learns what happens to a body. */
interface BodyObserver {
  /** A reader asks for the next bytes. */
  asked(): void
  /** The reader has got the bytes, or the source has confirmed that it is cancelled. */
  progressed(): void
  /** The source has ended, or failed. */
  ended(): void
  /** The reader wants no more. The source is cancelled, and may still work. */
  cancelled(): void
}

/** A body with the same chunks, for one reader. It reads from the source only what its reader asks for. */
export function watchBody(
  start: Awaited<ReturnType<typeof readStart>>,
  observer: BodyObserver,
): Body {
  const { reader } = start
  const chunks = [...start.chunks]
  let isCancelled = false
  let { pending } = start
  const next = () => {
    const read = pending ?? reader.read()
    pending = undefined
    return read
  }
  const source: UnderlyingSource<Uint8Array<ArrayBuffer>> = {
    pull: async (controller) => {
      observer.asked()
      const chunk = chunks.shift()
      try {
        const { done, value } = chunk === undefined ? await next() : { done: false, value: chunk }
        // A cancelled read says that it is done, whatever its source does.
        if (isCancelled) return
        if (done) controller.close()
        else controller.enqueue(value as Uint8Array<ArrayBuffer>)
        if (done) observer.ended()
        else observer.progressed()
      } catch (error) {
        controller.error(error)
        observer.ended()
      }
    },
    cancel: async (reason) => {
      isCancelled = true
      observer.cancelled()
      try {
        await reader.cancel(reason)
      } finally {
        observer.progressed()
      }
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 }) as Body
}
