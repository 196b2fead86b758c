import type { Decision, MaybePromise } from '@sluice/core'
import type { RateLimitError } from './refusal/refusal.ts'

/** The half of an adapter that depends on the platform: `nodeExchange` and `fetchExchange` are two. */
export interface Exchange<Request, Response> {
  /** The method in capitals. */
  method(request: Request): string
  /** A field's value; several values joined by commas. @param name the field's name in lower case */
  header(request: Request, name: string): string | undefined
  /** The address at the other end of the connection; undefined for a Unix socket. */
  peer(request: Request): string | undefined
  /** Whether the connection has ended, and the peer's address with it. */
  isGone(request: Request): boolean
  /** Objects that identify the request and its response in every middleware that they pass. */
  identity(request: Request): object
  setField(response: Response, name: string, value: string): void
  removeField(response: Response, name: string): void
  status(response: Response): number
  setStatus(response: Response, status: number): void
  /**
   * Sends a refusal, whose status and other fields are set.
   * @param toError makes the refusal as an error, for a framework that sends what is thrown
   */
  send(response: Response, body: string, mediaType: string, toError: () => RateLimitError): void
  /**
   * Calls the application's `respond`. For a framework whose response is thenable: a promise of it would wait for its
   * end. Left out: it is called as it is
   */
  responding?(response: Response, respond: () => unknown): Promise<unknown>
  /**
   * Sends what the application's `respond` has returned, unless it has sent a response itself.
   * @returns whether the request is answered; false: by nobody. Left out: `respond` sends the response itself
   */
  responded?(response: Response, result: unknown): MaybePromise<boolean>
  /** Called if the client has gone before its turn: it gets no response. */
  abandon?(response: Response): void
  /**
   * Called before something asynchronous happens: pauses a body that flows already, because other middleware listens
   * for its data. What arrives meanwhile would be lost for the application.
   * @returns undefined if it does not flow; else a function that lets it flow again. Left out: no body flows by itself
   */
  pauseBody?(request: Request, response: Response): (() => void) | undefined
  /** Whether the client still sends the body. Left out: that is not known. */
  isSending?(request: Request): boolean
  /** Whether it is too late to set a field. */
  isHeadSent(response: Response): boolean
  /** Calls back once, when the status is known, and fields can still be removed, and set by `setField`. */
  beforeHead(
    response: Response,
    callback: (setField: (name: string, value: string) => void) => void,
  ): void
  /** Calls back when the application ends the response, perhaps several times; immediately if it has ended. */
  whenEnded(response: Response, callback: () => void): void
  /** Whether the response has ended, and does not wait in this process for another to be sent. */
  isHandedOver(response: Response): boolean
  /** Whether the response has been sent, or its client has gone. */
  isClosed(response: Response): boolean
  /**
   * Called before a request is decided, if `isClosed` and `whenClosed` will be: some servers report that a client
   * has gone only where it was asked about while it was there.
   */
  observeClient?(response: Response): void
  /**
   * Calls back once, when the response has been sent, or its client has gone; immediately if that has happened.
   * @returns a function that cancels it
   */
  whenClosed(response: Response, callback: () => void): () => void
  /**
   * Reads the state of the response. Left out if the platform reports when a response has ended, or its client
   * has gone.
   */
  progress?(response: Response): Progress
  /**
   * The error of `respond: 'throw'`, as the framework has errors with a response. Left out: `error`.
   * @param body the response's body; `mediaType` is its type
   */
  toThrown?(error: RateLimitError, body: string, mediaType: string): Error
}

/** The state of a response on a platform that does not report the end of each. */
export interface Progress {
  /**
   * How long nothing has been seen to happen for a response that the application has returned, ms; 0
   * while its reader waits for the next bytes. Undefined: the application still makes it.
   */
  quietMs(): number | undefined
  /** Whether nobody has begun to read it. */
  isUnread(): boolean
  /** Calls back when the application has returned the response, and each time bytes are asked for or taken. */
  onProgress(callback: () => void): void
}

/** An adapter supplies an exchange, and the facts that only its framework knows. */
export interface RequestAdapter<Request, Response> extends Exchange<Request, Response> {
  /** The client's address behind the framework's own proxy setting; as text, unchecked. */
  address(request: Request): string | undefined
  /** The proxies that the framework's setting trusts. */
  proxyTrust(request: Request): ProxyTrust
  /** The user by the framework's convention, if one is signed in: an object with `id` or `sub`, or its id. */
  user(request: Request): unknown
  /** The path that `routes` are matched with, as the framework's own router sees it. */
  path(request: Request): string
  /**
   * Returns the path from another root, where the limiter is mounted below the root: the whole path, or the one
   * relative to there. Entries of `routes` match either. Left out, or undefined: there is none.
   */
  otherPath?(request: Request): string | undefined
  /**
   * The pattern of the request's route, where the framework knows it by now. Never what a client
   * wrote: metrics have a time series for each.
   */
  route?(request: Request): RoutePattern | undefined
  /** How that router compares paths. Left out: case and a trailing slash make no difference. */
  routing?(request: Request): Routing
  /** Stores the decision for the application. */
  decided?(request: Request, decision: Decision): void
  /**
   * Asks the runtime not to drop what still happens for a request that has ended, until the promise settles,
   * which never rejects. Left out: the runtime does not drop it.
   */
  waitUntil?(request: Request, promise: Promise<unknown>): void
}

/** The pattern of a route, as the application wrote it. */
export type RoutePattern = string | RegExp | readonly (string | RegExp)[]

/** How a router compares paths. */
export interface Routing {
  /** Whether upper and lower case differ. */
  readonly caseSensitive: boolean
  /** Whether a trailing slash makes another path. */
  readonly strict: boolean
}

/**
 * - `named`: proxies by address, or by a function
 * - `nobody`: X-Forwarded-For is not read
 * - `everybody`: its first entry, which the client writes, is trusted
 * - `hops`: so many entries from the right are trusted, no matter who sent them
 * - `ignored`: a setting that the framework no longer reads
 */
export type ProxyTrust = 'named' | 'nobody' | 'everybody' | 'hops' | 'ignored'
