type Bytes = Uint8Array<ArrayBuffer>
export type Body = ReadableStream<Bytes>
type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Bytes>['read']>>

/** The beginning of a body, and what is left of it. */
export interface BodyStart {
  readonly chunks: readonly Bytes[]
  /** Whether that is all of it. */
  readonly isComplete: boolean
  readonly reader: ReadableStreamDefaultReader<Bytes>
  /** A read that has no result yet. */
  readonly pending: Promise<Read> | undefined
}

/** Turns of the queue of microtasks in which Node 20 to 26 give what they have of a text, twice over. */
const TURNS = 12

/** How many chunks are read of a body before its reader asks for them: text is one. */
const MAX_CHUNKS = 2

/**
 * Reads what a body has at once, without waiting for a source. A text or JSON is complete then, so the
 * application has done its work, whether or not anybody ever reads the response.
 */
export async function readStart(body: Body): Promise<BodyStart> {
  const reader = body.getReader()
  const chunks: Bytes[] = []
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
async function soon(pending: Promise<Read>): Promise<Read | undefined> {
  let result: Read | undefined
  pending.then(
    (read) => {
      result = read
    },
    () => {},
  )
  for (let i = 0; i < TURNS && result === undefined; i += 1) await undefined
  return result
}
