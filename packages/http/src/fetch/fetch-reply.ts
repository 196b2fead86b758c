import { notOfFramework } from '../not-of-framework.ts'
import type { Progress } from '../request-adapter.ts'
import { type Body, readStart, watchBody } from './body.ts'
import { Occasion } from './occasion.ts'

/** @hono/node-server marks a response with this that the application has sent by itself. */
const ALREADY_SENT = 'x-hono-already-sent'

/** The body of a response. TypeScript before 5.7 has no name for these bytes. */
type ReplyBody = Response['body'] | ReturnType<InstanceType<typeof TextEncoder>['encode']>

/**
 * The response to a request of the Fetch standard, from before the application has made it. Its
 * fields are added to those of the application, which win.
 *
 * Nobody has to read the body of a response, and nobody reports what becomes of it. So what counts is the
 * source: the response has ended when the application has returned a body that is complete, or its source
 * has ended. A reader that cancels says only that the client has gone.
 */
export class FetchReply implements Progress {
  /** The status of the refusal; once there is a response, the response's. */
  status = 200
  readonly head = new Occasion()
  /** The application has given all of the response. */
  readonly ended = new Occasion()
  /** The response that the server sends; undefined until there is one. */
  response: Response | undefined
  readonly #request: Request
  /** Names and values in turn: an object `Headers` takes many times as long. */
  protected readonly fields: string[] = []
  protected removed: string[] | undefined
  readonly #closed = new Occasion()
  #progressed: (() => void)[] | undefined
  #watched: Body | undefined
  /**
   * When progress stopped, by `performance.now()`. Undefined while the application makes the response, or its
   * reader waits.
   */
  #quietSince: number | undefined
  /** Stops watching the client; undefined while it is not watched. */
  #unwatch: (() => void) | undefined

  /** @throws SluiceError if it is no request of the Fetch standard */
  constructor(request: Request | undefined) {
    if (!isRequest(request))
      throw notOfFramework('request', 'a Request of the Fetch standard', undefined)
    this.#request = request
  }

  /** @param name spelt the same each time */
  setField(name: string, value: string): void {
    const { fields } = this
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] !== name) continue
      fields[i + 1] = value
      return
    }
    fields.push(name, value)
  }

  removeField(name: string): void {
    const { fields } = this
    for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) fields.splice(i, 2)
    this.removed ??= []
    this.removed.push(name)
  }

  /** Some servers make the signal when it is read, and abort it only if it was made before. */
  observeClient(): void {
    void this.#request.signal
  }

  /** Whether the response has been read to its end, or its client has gone. */
  get isClosed(): boolean {
    return this.#closed.happened || this.isGone
  }

  /** Whether the server has reported that nobody waits for a response any more. */
  protected get isGone(): boolean {
    return this.#request.signal.aborted
  }

  /**
   * Calls back once, when it is closed; immediately if it is.
   * @returns a function that cancels it
   */
  whenClosed(callback: () => void): () => void {
    if (!this.#closed.happened) {
      if (this.isGone) this.#clientGone()
      else this.#unwatch ??= this.watchClient(() => this.#clientGone())
    }
    const cancel = this.#closed.on(callback)
    return () => {
      cancel()
      if (!this.#closed.isAwaited) this.#unwatchClient()
    }
  }

  /**
   * Calls back when `isGone` becomes true.
   * @returns a function that cancels it
   */
  protected watchClient(gone: () => void): () => void {
    const { signal } = this.#request
    signal.addEventListener('abort', gone, { once: true })
    return () => signal.removeEventListener('abort', gone)
  }

  #unwatchClient(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  quietMs(): number | undefined {
    if (this.#watched === undefined) return undefined
    return this.#quietSince === undefined ? 0 : performance.now() - this.#quietSince
  }

  isUnread(): boolean {
    return this.#watched?.locked === false
  }

  onProgress(callback: () => void): void {
    this.#progressed ??= []
    this.#progressed.push(callback)
  }

  /**
   * Takes the application's response. If it fails, the response has ended without one.
   * @throws SluiceError if the application has not made a response
   */
  async answerWith(make: () => Response | Promise<Response>): Promise<void> {
    try {
      const taking = this.take(await make())
      if (taking !== undefined) await taking
    } catch (error) {
      this.fail()
      throw error
    }
  }

  /** Whether it is too late to set a field. */
  get isHeadSent(): boolean {
    return this.head.happened
  }

  /** Answers a request that does not go on, with the status that was set. */
  refuse(body: ReplyBody, headers: Headers): void {
    this.answer(new Response(body, { status: this.status, headers }))
  }

  /** Takes the application's answer to such a request: 200 is no status that it has chosen. */
  refuseWith(response: Response): void {
    if (isSent(response)) this.give(response)
    else if (response.status === 200) this.refuse(response.body, response.headers)
    else this.answer(response)
  }

  /** Takes a finished response. */
  answer(response: Response): void {
    this.status = response.status
    this.head.happen()
    this.give(this.#withFields(response))
    this.#end()
  }

  /** Takes the response that the server sends in place of the application's. */
  protected give(response: Response): void {
    this.response = response
  }

  /** When the application has sent a response by itself. */
  protected whenSent(callback: () => void): void {
    callback()
  }

  /**
   * Takes the application's response.
   * @returns undefined if that is done
   * @throws SluiceError if it is no response
   */
  protected take(response: Response): Promise<void> | undefined {
    if (!isResponse(response))
      throw notOfFramework('response', 'a Response of the Fetch standard', response)
    this.status = response.status
    // Other middleware may have answered before the application did: its response is the server's now.
    const isTooLate = this.isHeadSent
    this.head.happen()
    this.response = response
    const isAwaited = this.ended.isAwaited || this.#closed.isAwaited
    if (!isAwaited && (isTooLate || this.hasFields(response))) return this.#end()
    if (isSent(response)) return void this.whenSent(() => this.#end())
    if (isTooLate) return this.#end()
    const sent = this.#withFields(response)
    if (sent !== response) this.give(sent)
    const body = isAwaited && isCopyable(response) ? sent.body : null
    if (body === null || sent.bodyUsed || body.locked || this.#request.method === 'HEAD')
      return this.#end()
    return this.#watch(sent, body as Body)
  }

  /** The application has failed: what servers answer then. */
  protected fail(): void {
    this.status = 500
    this.head.happen()
    this.#end()
  }

  #clientGone(): void {
    if (this.#watched !== undefined) this.#quietSince = performance.now()
    this.#closed.happen()
  }

  #end(): undefined {
    this.ended.happen()
    this.#closed.happen()
    this.#unwatchClient()
  }

  /** Whether a response has all fields that were set, and none that were removed. */
  protected hasFields({ headers }: Response): boolean {
    const { fields, removed } = this
    for (let i = 0; i < fields.length; i += 2) if (!headers.has(fields[i] as string)) return false
    return removed === undefined || !removed.some((name) => headers.has(name))
  }

  /**
   * The response with the fields. It is the same object wherever it can be changed, and only this
   * request can have it: applications may keep a response without a body, and return it many times.
   */
  #withFields(response: Response): Response {
    if (this.hasFields(response) || !isCopyable(response) || response.bodyUsed) return response
    const { fields, removed } = this
    const change = (headers: Headers) => {
      for (const name of removed ?? []) headers.delete(name)
      for (let i = 0; i < fields.length; i += 2) {
        const [name, value] = fields.slice(i, i + 2) as [string, string]
        if (!headers.has(name)) headers.set(name, value)
      }
    }
    if (response.body !== null && isMutable(response.headers)) {
      change(response.headers)
      return response
    }
    const headers = new Headers(response.headers)
    change(headers)
    return copyOf(response, response.body, headers)
  }

  /** Replaces the body by one that reports what happens to it, unless it is complete. */
  async #watch(response: Response, body: Body): Promise<void> {
    const start = await readStart(body)
    const { isComplete, reads } = start
    if (isComplete && reads.length < 2) {
      const chunk = (await reads[0])?.value ?? new Uint8Array()
      if (ArrayBuffer.isView(chunk)) {
        this.give(copyOf(response, chunk, response.headers))
        return this.#end()
      }
    }
    const progressed = () => {
      this.#quietSince = performance.now()
      for (const each of this.#progressed ?? []) each()
    }
    const watched = watchBody(start, {
      asked: () => {
        if (this.#closed.happened) return
        progressed()
        this.#quietSince = undefined
      },
      progressed,
      ended: () => this.#end(),
      cancelled: () => this.#clientGone(),
    })
    this.#watched = watched.body
    this.give(copyOf(response, watched.body, response.headers))
    if (isComplete) return this.#end()
    progressed()
    // Not every server reads or cancels a body that no client waits for any more.
    if (this.isClosed) watched.cancelSource(this.#request.signal.reason).catch(() => {})
  }
}

/** Some servers make `headers` when it is read, and some have classes beside the global one. */
function isRequest(request: unknown): request is Request {
  if (request instanceof Request) return true
  const { headers, signal } = (request ?? {}) as Partial<Request>
  return typeof headers?.get === 'function' && signal !== undefined
}

function isResponse(response: unknown): response is Response {
  if (response instanceof Response) return true
  return typeof (response as Response | undefined)?.headers?.get === 'function'
}

function isSent(response: Response): boolean {
  return response.headers.has(ALREADY_SENT)
}

/** Not an upgrade, an error, or a status of another server such as 999. */
function isCopyable({ status }: Response): boolean {
  return status > 199 && status < 600
}

function isMutable(headers: Headers): boolean {
  try {
    // Throws if it can't be changed (Fetch §5.1), and changes nothing.
    headers.delete('sluice-none')
    return true
  } catch {
    return false
  }
}

function copyOf({ status, statusText }: Response, body: ReplyBody, headers: Headers): Response {
  return new Response(body, {
    status,
    // That of another server may be one that no Response can be made with.
    statusText: /[^\t -~\x80-\xff]/.test(statusText) ? '' : statusText,
    headers,
  })
}
