import type { FetchReply, RequestAdapter } from '@sluice/http/adapter'
import type { Core } from './core.ts'
import { adapter, costOf, Exchange, type Waited } from './exchange.ts'
import type { Machine } from './machine.ts'
import type { PlannedRequest } from './plan.ts'
import { SOCKETS, type Timeline } from './timeline.ts'

/** What a source gives before it ends: at first, and after each quarter of the work. */
const CHUNKS = 4

const CHUNK = new Uint8Array(1)
const NO_FIELDS = new Headers()

/** The longest that a reader takes from the response to its end, ms. */
export function readingMs({ body }: PlannedRequest): number {
  const { readMs = 0, pauseMs = 0 } = body ?? {}
  return readMs + (CHUNKS + 1) * pauseMs
}

/** A request of the Fetch standard: its application returns a body, which somebody may read. */
export class FetchExchange extends Exchange {
  readonly reply: FetchReply
  /** What the adapter reads of it. */
  readonly incoming: Request
  readonly #body: NonNullable<PlannedRequest['body']>
  readonly #leaving = new AbortController()
  readonly #machine: Machine
  readonly #timeline: Timeline
  #source: ReadableStreamDefaultController<Uint8Array> | undefined
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #isMaking = true
  #isReaderWaiting = false

  constructor(
    planned: PlannedRequest,
    { timeline, machine, core }: { timeline: Timeline; machine: Machine; core: Core },
    waited?: Waited,
  ) {
    super(planned, timeline.now, waited)
    this.#body = planned.body ?? { source: 'text' }
    this.#machine = machine
    this.#timeline = timeline
    const { signal } = this.#leaving
    const read = () => {
      this.isBodyRead = true
      return null
    }
    this.incoming = {
      headers: NO_FIELDS,
      signal,
      get body() {
        return read()
      },
    } as Request
    this.reply = new core.FetchReply(this.incoming)
  }

  /** The application makes the response, or its reader waits for the next bytes. */
  override get isHeld(): boolean {
    return !this.isClosed && (this.#isMaking || this.#isReaderWaiting)
  }

  /** Nobody knows of the end of a body that is not read: only one that is read slowly keeps its estimate. */
  override get charged(): readonly [least: number, most: number] {
    const { cost, actual } = this.planned
    if (this.goesOn && this.overAt !== undefined) return [actual, actual]
    const isSlow = this.#reader !== undefined && !this.isClosed
    return [costOf(actual, false), isSlow ? Math.max(cost, actual) : actual]
  }

  override begin(): void {
    super.begin()
    const { planned } = this
    if (!this.#body.source.startsWith('stream')) return
    void this.#answer()
    const { workMs = Infinity } = planned
    for (let i = 1; i < CHUNKS && workMs < Infinity; i += 1)
      this.#machine.post((workMs * i) / CHUNKS, SOCKETS, () => this.#source?.enqueue(CHUNK))
  }

  /** The application has given all that it gives. */
  override end(): void {
    if (this.isEnded) return
    this.isEnded = true
    const source = this.#source
    const body = this.#body
    this.#source = undefined
    if (!this.goesOn) this.leave()
    else if (!body.source.startsWith('stream')) void this.#answer()
    else if (body.source === 'stream') source?.close()
    else source?.error(new Error('of the source'))
  }

  /** The client goes. */
  override leave(): void {
    this.#leaving.abort()
    this.close()
    if (this.#body.cancels) this.#reader?.cancel().catch(() => {})
  }

  async #answer(): Promise<void> {
    const body = this.#body
    const { reply } = this
    const answered = reply.answerWith(() => this.#make())
    await answered.catch(() => {})
    this.#isMaking = false
    if (!body.source.startsWith('stream')) this.#isOver()
    else if (body.readMs !== undefined)
      this.#machine.post(body.readMs, SOCKETS, () => void this.#read(reply.response as Response))
  }

  #make(): Response {
    const { source } = this.#body
    if (source === 'throws') throw new Error('of the application')
    if (source === 'text') return new Response('served')
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(CHUNK)
        this.#source = controller
      },
      cancel: () => {
        this.#source = undefined
      },
    })
    return new Response(body as never)
  }

  async #read({ body }: Response): Promise<void> {
    if (body === null || this.isClosed) return
    const { reads = Infinity, pauseMs = 0, cancels } = this.#body
    const reader = body.getReader()
    this.#reader = reader
    for (let i = 0; i < reads && !this.isClosed; i += 1) {
      this.#isReaderWaiting = true
      const { done } = await reader.read().catch(() => ({ done: true }))
      this.#isReaderWaiting = false
      // A read that was cancelled says so too.
      if (done) {
        if (!this.isClosed) this.#isOver()
        return
      }
      if (pauseMs > 0) await this.#pause(pauseMs)
    }
    if (!cancels) return
    this.close()
    reader.cancel().catch(() => {})
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#machine.post(ms, SOCKETS, resolve))
  }

  #isOver(): void {
    this.overAt ??= this.#timeline.now
    this.close()
  }
}

/** Reads simulated requests, and writes replies as adapters for the Fetch standard do. */
export function fetchAdapter(core: Core): RequestAdapter<FetchExchange, FetchReply> {
  const { method, header, peer, identity } = adapter
  const fetched = core.fetchExchange<FetchExchange>(
    ({ incoming }) => incoming,
    () => undefined,
  )
  return { ...adapter, ...fetched, method, header, peer, identity }
}
