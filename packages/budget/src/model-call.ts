import type { BudgetCall } from './call.ts'
import type { Usage } from './options.ts'
import { type Json, readRequest } from './request.ts'
import { UsageReader } from './usage.ts'

/** Errors before anything was sent: of DNS, the connection, TLS, a wait for a turn, and the AI SDK's own checks. */
const UNSENT =
  /^(connect|getaddrinfo|query\w+|UND_ERR_CONNECT_TIMEOUT|.*CERT.*|UNABLE_TO_VERIFY_LEAF_SIGNATURE|WaitError|AI_(LoadAPIKey|LoadSetting|InvalidPrompt|InvalidArgument|UnsupportedFunctionality|NoSuchModel)Error)$/

/** Reserves the most that a call may cost, by any of its models. */
export type Open = (estimates: readonly Usage[], made: ModelCall) => Promise<BudgetCall>

/** A call that an integration makes: reserved before, and charged what its answer has used. */
export class ModelCall {
  readonly used: UsageReader
  readonly #estimates: readonly Usage[]
  #reserved: BudgetCall | undefined
  #waitsSince: number | undefined

  /**
   * @param body the request, as the APIs have it
   * @param most the most tokens that it may use
   */
  constructor(body: Json, most: { readonly input: number; readonly output: number }) {
    const { asks, models, modes } = readRequest(body)
    this.used = new UsageReader(modes)
    this.#estimates = models.map((model) => ({ ...asks, ...most, model }))
  }

  async reserve(open: Open): Promise<BudgetCall> {
    this.#reserved = await open(this.#estimates, this)
    return this.#reserved
  }

  /**
   * How long its answer has waited for its reader, ms. While the model works, it waits for nobody. A call whose answer
   * nobody reads is charged its estimate.
   */
  quietMs(): number {
    return this.#waitsSince === undefined ? 0 : performance.now() - this.#waitsSince
  }

  /** Makes it. What certainly used nothing costs nothing. */
  async make<R>(signal: AbortSignal | undefined, act: () => PromiseLike<R>): Promise<R> {
    let isSent = false
    try {
      signal?.throwIfAborted()
      isSent = true
      return await act()
    } catch (error) {
      await (isSent && !isUnused(error) ? this.#reserved?.release() : this.#reserved?.cancel())
      throw error
    }
  }

  /** Ends the call. Unless the answer has said all of its use by then, the estimate stays charged. */
  async end(): Promise<void> {
    const { usage, isWhole } = this.used
    if (isWhole && usage !== undefined) await this.#reserved?.settle(usage)
    await this.#reserved?.release(usage)
  }

  /**
   * Its answer as it is sent, which ends it.
   * @param note reads a part
   */
  stream<T>(parts: ReadableStream<T>, note?: (part: T) => void): ReadableStream<T> {
    const reader = parts.getReader()
    const pull = async (to: ReadableStreamDefaultController<T>) => {
      this.#waitsSince = undefined
      try {
        const { done, value } = await reader.read()
        this.#waitsSince = performance.now()
        if (!done) {
          note?.(value)
          return to.enqueue(value)
        }
        await this.end()
        to.close()
      } catch (error) {
        await this.end()
        throw error
      }
    }
    // Also before the first part, and while the model is silent.
    const cancel = async (reason: unknown) => {
      await Promise.all([this.end(), reader.cancel(reason)])
    }
    this.#waitsSince = performance.now()
    return new ReadableStream<T>({ pull, cancel }, { highWaterMark: 0 })
  }
}

/** Whether it is certain: the provider has refused the call, or was not reached. */
function isUnused(error: unknown): boolean {
  const { statusCode, errors, cause, syscall, code, name } = Object(error)
  if (statusCode >= 400) return true
  if (errors?.length > 0) return errors.every(isUnused)
  return [syscall, code, name].some((text) => UNSENT.test(text)) || (cause && isUnused(cause))
}
