import { SluiceError } from '@sluice/core'
import { FetchReply } from '@sluice/http/adapter'
import type { Context } from 'elysia'

export type Facts = Pick<Context, 'request' | 'server' | 'set'>

/** A request of @elysiajs/node. */
interface NodeRequest extends Request {
  readonly runtime?: { readonly node?: { readonly upgrade?: { socket: NodeJS.EventEmitter } } }
}

/** What the limiters that a request has passed so far will add to its response, while an application handles it. */
const replies = new WeakMap<Request, ElysiaReply[]>()

/** The response to a request of an application that calls `answering`. */
export class ElysiaReply extends FetchReply {
  readonly #c: Facts

  constructor(c: Facts) {
    super(c.request)
    this.#c = c
  }

  /**
   * Awaits the response of the application.
   * @param isNeeded whether more depends on it than the fields of a route's response, which the context sets too
   * @throws SluiceError if it is needed, and the application does not call `answering`
   */
  await(isNeeded: boolean): void {
    const all = replies.get(this.#c.request)
    all?.push(this)
    if (all !== undefined || !isNeeded) return
    throw new SluiceError({
      code: 'SLUICE_REQUEST',
      option: 'app',
      expected: 'an application that waits for its limiters',
      said: 'an instance within a group, or aot: false',
      fix: "Use rateLimit outside of groups too, or set as: 'scoped' without concurrent and settle; with aot: false, only that works.",
    })
  }

  /** What the application has set before is replaced; what it sets from now on wins. */
  override setField(name: string, value: string): void {
    super.setField(name, value)
    this.#unset(name)
    this.#c.set.headers[name.toLowerCase()] = value
  }

  override removeField(name: string): void {
    super.removeField(name)
    this.#unset(name)
  }

  #unset(name: string): void {
    const { headers } = this.#c.set
    for (const each in headers) if (each.toLowerCase() === name.toLowerCase()) delete headers[each]
  }

  /** Adds the fields to the response of the application, and watches its body. */
  async complete(given: Promise<Response>): Promise<Response> {
    // It has refused the request.
    if (this.response !== undefined) return given
    const response = await given.catch(() => undefined)
    if (!response?.ok || !this.#isUpgraded()) {
      await this.answerWith(() => given)
      return this.response as unknown as Response
    }
    // The application answers until the WebSocket closes.
    void this.answerWith(() => closed(this.#c.request).then(() => response))
    return response
  }

  #isUpgraded(): boolean {
    const { request, server } = this.#c
    const node = (request as NodeRequest).runtime?.node
    if (node !== undefined) return node.upgrade !== undefined
    // Bun takes the connection from the request.
    return request.headers.get('upgrade') === 'websocket' && server?.requestIP(request) === null
  }
}

function closed({ runtime, signal }: NodeRequest): Promise<unknown> {
  const socket = runtime?.node?.upgrade?.socket
  return new Promise((resolve) => {
    socket?.once('close', resolve)
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', resolve, { once: true })
  })
}

/** Wraps an application, so that limiters get all its responses: those of errors and of unknown routes too. */
export function answering(handle: (request: Request) => Response | Promise<Response>) {
  return async (request: Request): Promise<Response> => {
    // Another limiter has wrapped it too, or it is part of an application that one has wrapped.
    if (replies.has(request)) return handle(request)
    const all: ElysiaReply[] = []
    replies.set(request, all)
    let response = (async () => handle(request))()
    await response.catch(() => {})
    replies.delete(request)
    for (const reply of all.reverse()) response = reply.complete(response)
    return response
  }
}
