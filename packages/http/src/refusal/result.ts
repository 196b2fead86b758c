/** What `respond` may return to be sent. */
export interface Sendable {
  readonly body: string | Uint8Array
  readonly mediaType: string
}

/** Undefined: it is nothing that can be sent, such as a timer or the framework's response. */
export function sendableOf(result: unknown): Sendable | undefined {
  if (typeof result === 'string') return { body: result, mediaType: 'text/plain; charset=utf-8' }
  if (result instanceof Uint8Array) return { body: result, mediaType: 'application/octet-stream' }
  if (typeof result !== 'object' || result === null) return undefined
  try {
    return { body: JSON.stringify(result), mediaType: 'application/json' }
  } catch {
    return undefined
  }
}

/** Whether it is a response of the Fetch standard. Servers have classes of their own beside the global one. */
export function isResponse(result: unknown): result is Response {
  const { headers, arrayBuffer } = (result ?? {}) as Partial<Response>
  return typeof headers?.get === 'function' && typeof arrayBuffer === 'function'
}

/**
 * Reads a response of the Fetch standard, to be sent by a framework that does not know them. The default of every
 * Response, 200, is no status that the application has chosen.
 */
export async function readResponse(
  response: Response,
  setStatus: (status: number) => void,
  setField: (name: string, value: string | string[]) => void,
): Promise<Uint8Array> {
  const { status, headers } = response
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (status !== 200) setStatus(status)
  for (const [name, value] of headers) if (name !== 'set-cookie') setField(name, value)
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) setField('Set-Cookie', cookies)
  return bytes
}
