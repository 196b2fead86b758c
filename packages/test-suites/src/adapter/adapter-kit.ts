import type { Server } from 'node:http'
import type { Decision, MaybePromise } from '@sluice/core'
import type { RateLimitOptions } from '@sluice/http'

/** The parts of a framework that the suite needs. */
export interface AdapterKit<Request, Response> {
  /** A server of the framework as the site describes it. It does not listen yet. */
  serve(site: Site<Request, Response>): MaybePromise<Server>
  /** Reads a request of the framework for the tests. */
  read(request: Request): SuiteRequest
  /** Ends a response of which only the body is missing, as `respond` does: it returns this. */
  send(response: Response, body: string): unknown
  /** Settings of the framework that let clients choose their address, and the warning for each. */
  readonly unsafeTrust?: readonly (readonly [setting: unknown, code: string])[]
}

/** A request as the tests see it, in every framework. Node's `IncomingMessage` is one. */
export interface SuiteRequest {
  /** Header fields by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Path and query, as the client has sent them. */
  readonly url?: string | undefined
}

/** An application with limiters, which each framework builds in its own way. */
export interface Site<Request, Response> {
  /** Every request passes them in this order, whatever its path. */
  readonly limiters: readonly RateLimitOptions<Request, Response>[]
  /** True: then it passes all of them again. A framework where that can't be may leave it out. */
  readonly passedTwice: boolean
  /**
   * The framework's own proxy setting: ranges of addresses, one of the adapter's `unsafeTrust`,
   * or undefined for its default. A framework that takes no ranges passes them to the limiters, as
   * their `trustProxy`.
   */
  readonly trustProxy: unknown
  /** The signed-in user, to be put where the framework keeps it; undefined for none. */
  user(request: Request): unknown
  /** Header fields that the application sets on every response before the limiters run. */
  readonly fields: Readonly<Record<string, string>>
  /** The application sends this response before the limiters run, and lets the request go on. */
  readonly early: string | undefined
  /**
   * The application, at the path `/` for every method: returns its response, after some time. Every
   * other path is a 404. It sends none if one has been sent already.
   * @param decision what the limiter has left on the request
   */
  handle(decision: Decision | undefined): Promise<Answer>
  /** Gets every error that reaches the framework's error handler, which then sends a 500. */
  failed(error: unknown): void
}

/**
 * The middleware that requests pass on their way to the application of a site, in this order.
 * @param make makes the middleware of a limiter
 */
export function middlewareOf<Request, Response, Middleware>(
  site: Site<Request, Response>,
  make: (options: RateLimitOptions<Request, Response>) => Middleware,
): Middleware[] {
  const made = site.limiters.map(make)
  return site.passedTwice ? [...made, ...made] : made
}

/** The answer of the application. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** The body in parts, in place of `body`: for `writeChunks` or `streamChunks`. Left out: it has none. */
  readonly chunks?: AsyncIterable<string>
}

/** The options as the tests write them: functions see the same request in every framework. */
export type TestOptions = RateLimitOptions<SuiteRequest, SuiteResponse>

export interface SuiteResponse {
  /** `respond` returns its result. */
  send(body: string): unknown
}

type Reader = (request: SuiteRequest, ...others: unknown[]) => unknown

/** Options that may be functions whose first argument is the request. */
const READERS = [
  'limit',
  'concurrent',
  'window',
  'anchor',
  'cost',
  'key',
  'user',
  'skip',
  'settle',
] as const

/** The options with the types of the framework. */
export function translate<Request, Response>(
  options: TestOptions,
  { read, send }: AdapterKit<Request, Response>,
): RateLimitOptions<Request, Response> {
  const translateReaders = (given: object) => {
    const translated: Record<string, unknown> = { ...given }
    for (const name of READERS) {
      const reader = translated[name]
      if (typeof reader !== 'function') continue
      translated[name] = (request: Request, ...others: unknown[]) =>
        (reader as Reader)(read(request), ...others)
    }
    return translated
  }
  const { policies, respond, onDecision } = options
  const translated = translateReaders(options)
  if (policies !== undefined) translated.policies = policies.map(translateReaders)
  if (typeof respond === 'function')
    translated.respond = (decision: Decision, request: Request, response: Response, key: string) =>
      respond(decision, read(request), { send: (body) => send(response, body) }, key)
  if (typeof onDecision === 'function')
    translated.onDecision = (decision: Decision, request: Request, key: string) =>
      onDecision(decision, read(request), key)
  return translated as unknown as RateLimitOptions<Request, Response>
}
