import type { ServerResponse } from 'node:http'
import {
  FetchReply,
  isClosed,
  notOfFramework,
  pauseBody as pauseNodeBody,
  whenClosed,
} from '@sluice/http/adapter'
import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'

/** The response of a context of Hono, whose fields the application sets there too. */
export class HonoReply extends FetchReply {
  readonly #c: Context

  constructor(c: Context) {
    if (typeof c.header !== 'function') throw notOfFramework('c', 'a context of Hono', undefined)
    super(c.req?.raw)
    this.#c = c
  }

  /** On Node, other middleware may have answered before the limiter has decided. */
  override get isHeadSent(): boolean {
    return super.isHeadSent || this.#outgoing?.headersSent === true
  }

  /** On Node also when other middleware has answered: then @hono/node-server does not abort the signal. */
  protected override get isGone(): boolean {
    const outgoing = this.#outgoing
    return outgoing === undefined ? super.isGone : isClosed(outgoing)
  }

  protected override watchClient(gone: () => void): () => void {
    const outgoing = this.#outgoing
    return outgoing === undefined ? super.watchClient(gone) : whenClosed(outgoing, gone)
  }

  /** The application has answered. */
  answered(): Promise<void> | undefined {
    if (this.#outgoing?.headersSent) this.#keepReadable()
    return this.take(this.#c.res)
  }

  /** The application, or `answered`, has failed. */
  failed(): void {
    if (this.#outgoing?.headersSent) this.#keepReadable()
    this.fail()
  }

  /** A response of @hono/node-server that was sent throws if it is read after its body was asked for. */
  #keepReadable(): void {
    if (!hasStatus(this.#c.res))
      this.#replace(new Response(null, { status: this.#outgoing?.statusCode as number }))
  }

  override setField(name: string, value: string): void {
    super.setField(name, value)
    this.#c.header(name, value)
  }

  /** A response that has one field as it was set here was made by the context, which had them all. */
  protected override hasFields(response: Response): boolean {
    const { fields, removed } = this
    const last = fields.length - 2
    const isOfContext =
      last >= 0 &&
      removed === undefined &&
      response.headers.get(fields[last] as string) === fields[last + 1]
    return isOfContext || super.hasFields(response)
  }

  override refuse(...[body, headers]: Parameters<FetchReply['refuse']>): void {
    // As an object they would lose all cookies but one.
    this.answer(this.#c.newResponse(body, { status: this.status as StatusCode, headers }))
  }

  protected override give(response: Response): void {
    super.give(response)
    if (this.#outgoing?.headersSent) this.#keepReadable()
    else this.#replace(response)
  }

  #replace(response: Response): void {
    // Else Hono would join the fields of both.
    this.#c.res = undefined
    this.#c.res = response
  }

  /** On Node the application writes to the response of `c.env`, perhaps for longer than its handler runs. */
  protected override whenSent(callback: () => void): void {
    const outgoing = this.#outgoing
    if (outgoing === undefined || outgoing.writableEnded || outgoing.destroyed) callback()
    else outgoing.once('close', callback)
  }

  get #outgoing(): ServerResponse | undefined {
    return outgoingOf(this.#c)
  }
}

/** Whether the client has gone, or has its answer, so that its address may be lost. */
export function isGone(c: Context): boolean {
  const outgoing = outgoingOf(c)
  return outgoing === undefined ? c.req.raw.signal.aborted : isClosed(outgoing)
}

/** On Node, where other middleware may read the request of `c.env`. */
export function pauseBody(c: Context): (() => void) | undefined {
  const outgoing = outgoingOf(c)
  return outgoing?.req?.readableFlowing ? pauseNodeBody(outgoing.req, outgoing) : undefined
}

/** Node's response, if Hono runs on a server of Node's. Elsewhere the application names what `c.env` has. */
function outgoingOf(c: Context): ServerResponse | undefined {
  const { outgoing } = (c.env ?? {}) as { outgoing?: ServerResponse }
  return typeof outgoing?.headersSent === 'boolean' ? outgoing : undefined
}

function hasStatus(response: Response): boolean {
  try {
    return response.status > 0
  } catch {
    return false
  }
}
