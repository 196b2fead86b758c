import type { UnderlyingByteSource } from 'node:stream/web'

export type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** Turns of the queue of microtasks in which Node 20 to 26 give what they have of a text, twice over. */
const TURNS = 12

/** How many chunks are read of a body before its reader asks for them: text is one. */
const MAX_CHUNKS = 2

/**
 * Reads what a body has at once, without waiting for a source. A text or JSON is complete then, so the
 * application has done its work, whether or not anybody ever reads the response.
 *
 * @returns the reads of its beginning, the last of which may have no result yet; whether that is all of the
 *   body; and its type
 */
export async function readStart(body: Body) {
  const type = typeOf(body)
  const reader = body.getReader()
  const reads: ReturnType<typeof reader.read>[] = []
  while (reads.length <= MAX_CHUNKS) {
    const pending = reader.read()
    const read = await soon(pending)
    if (read?.done) return { type, reader, reads, isComplete: true }
    reads.push(pending)
    if (read === undefined) break
  }
  return { type, reader, reads, isComplete: false }
}

/** Only a stream of bytes fills the buffers of its reader (`mode: 'byob'`). */
function typeOf(body: Body) {
  try {
    body.getReader({ mode: 'byob' }).releaseLock()
    return 'bytes'
  } catch {
    return undefined
  }
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

/**
 * A body of the same type with the same bytes, for one reader. It reads from the source only what its reader asks for.
 *
 * @returns the body; and what cancels its source alone: the body can still be read, and ends with no more bytes
 */
export function watchBody(
  { type, reader, reads }: Awaited<ReturnType<typeof readStart>>,
  observer: BodyObserver,
) {
  let isCancelled = false
  let isBodyCancelled = false
  const cancelSource = async (reason: unknown) => {
    isCancelled = true
    observer.cancelled()
    try {
      await reader.cancel(reason)
    } finally {
      observer.progressed()
    }
  }
  const source: UnderlyingByteSource = {
    // Undefined is the type of any other stream, whose controller differs only in `byobRequest`.
    type: type as 'bytes',
    pull: async (controller) => {
      observer.asked()
      try {
        const { done, value } = await (reads.shift() ?? reader.read())
        if (isBodyCancelled) return
        if (done || isCancelled) {
          controller.close()
          // A reader that waits with a buffer gets it back.
          controller.byobRequest?.respond(0)
          // A cancelled read says that it is done, whatever its source does.
          if (!isCancelled) observer.ended()
        } else {
          controller.enqueue(value)
          observer.progressed()
        }
      } catch (error) {
        controller.error(error)
        observer.ended()
      }
    },
    cancel: (reason) => {
      isBodyCancelled = true
      return cancelSource(reason)
    },
  }
  return { body: new ReadableStream(source, { highWaterMark: 0 }) as Body, cancelSource }
}
