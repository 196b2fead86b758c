import type { ServerResponse } from 'node:http'

/**
 * Writes a body in parts to Node's response. It goes on when the client has left, as an application does that
 * does not look.
 */
export async function writeChunks(
  response: ServerResponse,
  chunks: AsyncIterable<string>,
): Promise<void> {
  for await (const chunk of chunks) response.write(chunk)
  response.end()
}

/** Chunks as a body of the Fetch standard: its source goes on when it is cancelled. */
export function streamChunks(chunks: AsyncIterable<string>): NonNullable<Response['body']> {
  const encoder = new TextEncoder()
  let isCancelled = false
  return new ReadableStream({
    start(controller) {
      const write = async () => {
        for await (const chunk of chunks)
          if (!isCancelled) controller.enqueue(encoder.encode(chunk))
        if (!isCancelled) controller.close()
      }
      void write()
    },
    cancel() {
      isCancelled = true
    },
  })
}
