import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Decision, MaybePromise, RateLimitOptions } from '@sluice/core'

/** What a test file supplies of its framework. */
export interface Adapter<Request, Response> {
  /** A server of the framework as the site describes it, complete but not listening yet. */
  serve(site: Site<Request, Response>): MaybePromise<Server>
  /** Node's request behind the one that the framework hands to the functions in the options. */
  node(request: Request): IncomingMessage
  /** Ends a response of which only the body is missing, as `respond` would. */
  send(response: Response, body: string): unknown
  /** Settings of the framework's own that let clients choose their address, and what is told of it. */
  readonly unsafeTrust?: readonly (readonly [setting: unknown, warning: string])[]
}

/** An application with limiters: what every framework has to build in its own way. */
export interface Site<Request, Response> {
  /** In this order in the way of every request, whatever its path. */
  readonly limiters: readonly RateLimitOptions<Request, Response>[]
  /**
   * For the framework's own proxy setting: ranges of addresses, one of the adapter's `unsafeTrust`,
   * or undefined for its default. A framework that takes no ranges hands them to the limiters, as
   * their `trustProxy`.
   */
  readonly trustProxy: unknown
  /** What stands where the framework keeps its user; undefined for nobody. */
  user(request: IncomingMessage): unknown
  /** Runs before the limiters. */
  before(request: IncomingMessage, response: ServerResponse): void
  /**
   * The application, at the path `/` for every method: gives its response. It sends none if one
   * has been sent already.
   * @param decision what the limiter has left on the request
   */
  handle(decision: Decision | undefined): { readonly status: number; readonly body: string }
  /** Told of every error that reaches the framework's error handler, which then sends a 500. */
  failed(error: unknown): void
}

/** The options as the tables write them: functions see Node's request, whatever the framework. */
export type TestOptions = RateLimitOptions<IncomingMessage, TestResponse>

export interface TestResponse {
  send(body: string): unknown
}

type Reader = (request: IncomingMessage) => unknown

/** The options in the terms of the framework. */
export function translate<Request, Response>(
  options: TestOptions,
  { node, send }: Adapter<Request, Response>,
): RateLimitOptions<Request, Response> {
  const read = (terms: object) => {
    const translated: Record<string, unknown> = { ...terms }
    for (const name of ['limit', 'cost', 'key', 'user', 'skip', 'settle']) {
      const reader = translated[name]
      if (typeof reader !== 'function') continue
      translated[name] = (request: Request) => (reader as Reader)(node(request))
    }
    return translated
  }
  const { policies, respond, onDecision } = options
  const translated = read(options)
  if (policies !== undefined) translated.policies = policies.map(read)
  if (typeof respond === 'function')
    translated.respond = (decision: Decision, request: Request, response: Response) =>
      respond(decision, node(request), { send: (body) => send(response, body) })
  if (typeof onDecision === 'function')
    translated.onDecision = (decision: Decision, request: Request) =>
      onDecision(decision, node(request))
  return translated as unknown as RateLimitOptions<Request, Response>
}
