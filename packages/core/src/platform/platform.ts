/**
 * The functions of the runtime that differ between Node and the web. `node.ts` takes them from Node's
 * modules, `web.ts` from the globals that pages and workers have. `#platform` is one of the two: the
 * `imports` of package.json choose by the conditions of the runtime or the bundler. Everything else
 * in core uses the language and the globals that all of them share.
 */
export interface Platform {
  /** The digest of a text. Lone surrogates differ in UTF-16 alone. */
  hash(algorithm: 'sha1' | 'sha256', text: string, from: 'utf8' | 'utf16le', to: Encoding): string
  /** HMAC-SHA256 (RFC 2104) of a text, both in UTF-8: 32 bytes. */
  hmac(secret: string, text: string): Uint8Array
  /** `base64` has padding, `base64url` has none (RFC 4648). */
  encode(bytes: Uint8Array, to: Encoding): string
  /** The bytes of a text in UTF-8. */
  byteLength(text: string): number
  /** 32 bits that nobody can predict, as an integer from 0. */
  random32(): number

  /** A value as source code would show it, objects one level deep. Text is cut after so many characters. */
  inspect(value: unknown, maxStringLength?: number): string
  /** Warns the operator. */
  emitWarning(message: string, code: string): void
  /** The methods that the option `routes` can name. */
  methods(): readonly string[]

  /**
   * Calls back before the head of a response of Node is written, a `ServerResponse`: workers have no types of Node.
   * @throws Error where Node is not: then nobody has such a response
   */
  beforeHead(response: object, callback: () => void): void

  /** Where events of one kind are published, by the name of the channel. */
  channel<T>(name: string): Events<T>
  /** Where the steps of an operation are published. */
  tracingChannel<Context extends { result?: unknown }>(name: string): Traces<Context>

  /** The share of the heap's limit that is in use; 0 where that is not known. */
  heapShare(): number
  /** How long the event loop has been busy and idle, ms; zeros where that is not known. */
  loopTimes(): { readonly active: number; readonly idle: number }

  /** Calls back when the event loop has read what has arrived, with what was asked for in this turn. */
  afterTurn(act: () => void): void
  /**
   * Calls back when those that can share a call have asked: at the end of the turn or, where no request may
   * wait for what another one has begun, before another request can run. None may throw: the others of the turn
   * are called after it.
   */
  afterAsking(act: () => void): void
  /**
   * Calls back at the end of a turn, for a clock: false if it may never be called, because a test has
   * replaced the timers.
   */
  isCalledAfterTurn(act: () => void): boolean
  /**
   * Calls back after `ms`, up to 2^31 − 1, unless the process has ended: the timer keeps neither the
   * process nor the request alive in which it is set. Runtimes may drop it with that request.
   * @returns a function that cancels it
   */
  inBackground(act: () => void, ms: number): () => void
  sleep(ms: number): Promise<void>
  /** Whether a timer may end with the request in which it was set. */
  readonly timersEndWithRequest: boolean
  /** The timer no longer keeps the process alive. */
  unref(timer: Timer): Timer
  /** The timer keeps the process alive again. */
  ref(timer: Timer): Timer
}

export type Encoding = 'hex' | 'base64' | 'base64url'

export type Timer = ReturnType<typeof setTimeout>

/** Publish only where somebody listens. */
export interface Events<T> {
  readonly hasSubscribers: boolean
  publish(event: T): void
}

export interface Traces<Context extends { result?: unknown }> {
  readonly hasSubscribers: boolean
  traceSync<T extends Context['result']>(act: () => T, context: Context): T
  tracePromise<T extends Context['result']>(act: () => Promise<T>, context: Context): Promise<T>
}
