import type { UnderlyingSource } from 'node:stream/web'
import { notOfFramework } from '../not-of-framework.ts'

/** Of a response that the application has failed to make. */
const FAILED = 500

/** Calls back once, when it happens; immediately if it has happened. */
class Occasion {
  happened = false
  private readonly callbacks = new Set<() => void>()

  get isAwaited(): boolean {
    return this.callbacks.size > 0
  }

  /** @returns a function that cancels it */
  on(callback: () => void): () => void {
    if (this.happened) callback()
    else this.callbacks.add(callback)
    return () => void this.callbacks.delete(callback)
  }

  happen(): void {
    if (this.happened) return
    this.happened = true
    const callbacks = [...this.callbacks]
    this.callbacks.clear()
    for (const each of callbacks) each()
  }
}

/**
 * The response to a request of the Fetch standard, from before the application has made it. Its
 * fields are added to those of the application, which win.
 */
export class FetchReply {
  /** Of a refusal; once there is a response, the response's. */
  status = 200
  readonly head = new Occasion()
  /** The application has given all of the response. */
  readonly ended = new Occasion()
  /** What the server sends; undefined until there is one. */
  response: Response | undefined
  private readonly request: Request
  private readonly fields = new Headers()
  private readonly removed = new Set<string>()
  private readonly closed = new Occasion()
  private readonly leave = () => this.closed.happen()

  /** @throws SluiceError if it is no request of the Fetch standard */
  constructor(request: Request | undefined) {
    if (typeof request?.headers?.get !== 'function' || request.signal === undefined) {
      throw notOfFramework('request', 'a Request of the Fetch standard', undefined)
    }
    this.request = request
  }

  setField(name: string, value: string): void {
    this.fields.set(name, value)
  }

  removeField(name: string): void {
    this.fields.delete(name)
    this.removed.add(name)
  }

  /** Whether the response has been read to its end, or its client has gone. */
  get isClosed(): boolean {
    return this.closed.happened || this.request.signal.aborted
  }

  /**
   * Calls back once, when it is closed; immediately if it is.
   * @returns a function that cancels it
   */
  whenClosed(callback: () => void): () => void {
    // Some servers make the signal when it is read.
    const { signal } = this.request
    if (signal.aborted) this.closed.happen()
    else if (!this.closed.isAwaited) signal.addEventListener('abort', this.leave, { once: true })
    return this.closed.on(callback)
  }

  /** Takes what the application makes. If it fails, the response has ended without one. */
  async answerWith(make: () => Response | Promise<Response>): Promise<void> {
    try {
      this.answer(await make())
    } catch (error) {
      this.status = FAILED
      this.end()
      throw error
    }
  }

  /** Answers a request that does not go on, with the status that was set. */
  refuse(body: Response['body'] | Uint8Array<ArrayBuffer>, headers: Headers): void {
    this.answer(new Response(body, { status: this.status, headers }))
  }

  /** Takes a finished response. */
  answer(response: Response): void {
    this.status = response.status
    this.head.happen()
    const headers = new Headers(response.headers)
    for (const name of this.removed) headers.delete(name)
    for (const [name, value] of this.fields) if (!headers.has(name)) headers.set(name, value)
    const { status, statusText } = response
    // An upgrade, or an error: neither has a body or can be copied.
    if (status < 200) {
      this.response = response
      this.end()
      return
    }
    const isWatched = this.ended.isAwaited || this.closed.isAwaited
    const body = isWatched ? this.watch(response.body) : response.body
    this.response = new Response(body, { status, statusText, headers })
    if (body === null || this.request.method === 'HEAD') this.end()
  }

  private end(): void {
    const isWatched = this.closed.isAwaited
    this.ended.happen()
    this.closed.happen()
    if (isWatched) this.request.signal.removeEventListener('abort', this.leave)
  }

  /** The same body; it reports when it has been read to its end, was cancelled or has failed. */
  private watch(body: Response['body']): Response['body'] {
    if (body === null) return null
    const reader = body.getReader()
    const source: UnderlyingSource<Uint8Array<ArrayBuffer>> = {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          controller.close()
          this.end()
        } catch (error) {
          controller.error(error)
          this.end()
        }
      },
      cancel: (reason) => {
        this.end()
        return reader.cancel(reason)
      },
    }
    return new ReadableStream(source, { highWaterMark: 0 })
  }
}
