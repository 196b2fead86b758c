import type { UnderlyingSource } from 'node:stream/web'
import type { Body, BodyStart } from './body-start.ts'

/** Learns what happens to a body. */
export interface BodyObserver {
  /** A reader asks for the next bytes. */
  asked(): void
  /** The reader has got the bytes. */
  taken(): void
  /** The source has ended, or failed. */
  ended(): void
  /** The reader wants no more. The source is cancelled, and may still work. */
  cancelled(): void
  /** The source has confirmed that. */
  cancelConfirmed(): void
}

/** A body with the same chunks, for one reader. It reads from the source only what its reader asks for. */
export function watchBody(start: BodyStart, observer: BodyObserver): Body {
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
        else observer.taken()
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
        observer.cancelConfirmed()
      }
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 }) as Body
}
