import type { ServerResponse } from 'node:http'
import { FetchReply, notOfFramework } from '@sluice/core/adapter'
import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'

/** The response of a context of Hono, whose fields the application sets there too. */
export class HonoReply extends FetchReply {
  private readonly c: Context

  constructor(c: Context) {
    if (typeof c.header !== 'function') throw notOfFramework('c', 'a context of Hono', undefined)
    super(c.req?.raw)
    this.c = c
  }

  override setField(name: string, value: string): void {
    super.setField(name, value)
    this.c.header(name, value)
  }

  override refuse(...[body, headers]: Parameters<FetchReply['refuse']>): void {
    // As an object they would lose all cookies but one.
    this.answer(this.c.newResponse(body, { status: this.status as StatusCode, headers }))
  }

  /** On Node the application writes to the response of `c.env`, perhaps for longer than its handler runs. */
  protected override whenSent(callback: () => void): void {
    const { outgoing } = (this.c.env ?? {}) as { outgoing?: ServerResponse }
    if (outgoing === undefined || outgoing.writableEnded || outgoing.destroyed) callback()
    else outgoing.once('close', callback)
  }
}
