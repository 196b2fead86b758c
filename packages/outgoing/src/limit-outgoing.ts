import { WaitError } from '@sluice/core'
import { checkFunction, warnOnce } from '@sluice/core/internal'
import { copyBody, watchResponse } from './body.ts'
import { readAnswer } from './fields.ts'
import {
  type OutgoingOptions,
  type OutgoingRequest,
  readSettings,
  type Settings,
} from './options.ts'
import { HOLD_MS, type Place } from './outgoing-limiter.ts'

/** The most of a request's body that is kept to be sent again, bytes. */
const MAX_REPEATED = 1_048_576
/** The most of a refusal's body that is read, bytes, and for how long, ms. */
const MAX_REFUSAL = 16_384
const MAX_REFUSAL_MS = 1000
/** No wait changes these refusals of OpenAI. */
const FINAL_CODES = /"(insufficient_quota|billing_hard_limit_reached|billing_not_active)"/

/** Bodies that can be sent again. */
const REPEATABLE =
  /^\[object (Undefined|Null|String|ArrayBuffer|Blob|File|FormData|URLSearchParams)\]$/

type Fetch = typeof globalThis.fetch

/** A fetch that waits for its turn. */
export type PacedFetch<F> = F & {
  /** Rejects all waiting calls. Requests in flight continue. */
  close(): void
}

/**
 * Makes a `fetch` that keeps to the limits of the servers that it calls, across all processes on
 * the store. A call waits until your policies, the server's remaining quota and pauses after a 429
 * allow it.
 *
 * @param fetch the platform's, undici's, or another with the same contract
 * @returns a fetch with the same signature. It rejects with a `WaitError` if the wait would be
 *   longer than `maxWait`, with the signal's reason if that aborts first, otherwise as `fetch` does
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function limitOutgoing<F extends (input: never, init?: never) => Promise<object>>(
  fetch: F,
  options: OutgoingOptions = {},
): PacedFetch<F> {
  const settings = readSettings(options)
  const { limiter, attempts, maxWaitMs } = settings
  const send = checkFunction(
    'fetch',
    fetch,
    '(input, init) => a promise of a Response',
  ) as never as Fetch
  const paced: Fetch = async (input, init) => {
    const request = requestOf(input as Request | string | URL, init)
    const costs = settings.costsOf(request)
    const key = settings.keyOf(request)
    const deadline = performance.now() + maxWaitMs
    const isOfRequest = init?.signal === undefined && isRequest(input)
    const signal = (isOfRequest ? input.signal : init?.signal) ?? undefined
    const mayRepeat = settings.methods.has(request.method) || request.headers.has('idempotency-key')
    let given = init
    let refusal: Response | undefined
    for (let attempt = 1; ; attempt += 1) {
      let place: Place
      try {
        const restMs = Math.max(0, Math.floor(deadline - performance.now()))
        place = await limiter.admit(key, costs, restMs, signal, attempt > 1)
      } catch (error) {
        if (refusal !== undefined && error instanceof WaitError) return refusal
        throw error
      }
      discard(refusal)
      let copy: ReturnType<typeof copyBody>
      try {
        // The body of a Request can be read once, and sending reads it.
        if (mayRepeat && attempt < attempts && given?.body == null && isRequest(input))
          copy = copyBody(input, MAX_REPEATED)
        const response = await send(input, given)
        const body = copy?.end()
        if (body !== undefined) given = { ...init, body }
        const answer = readAnswer(response.status, response.headers, settings.obey, Date.now())
        // A pause that the fields state begins before the body is read.
        const isStated = answer.waitMs !== undefined
        const isFinal = answer.isFinal || (!isStated && (await saysNever(response, settings)))
        const waitMs = place.heard({ ...answer, isFinal })
        if (!answer.isRefusal) return ending(response, place, settings)
        // A refused request has used nothing but an attempt.
        place.end(
          costs.map((_, i) => (limiter.compiledPolicies[i]?.unit === 'requests' ? undefined : 0)),
        )
        const isInTime = performance.now() + waitMs <= deadline
        const isRepeatable = mayRepeat && isKept(given?.body ?? request.body)
        if (isFinal || attempt === attempts || !isInTime || !isRepeatable) return response
        if (isStated && (await saysNever(response, settings))) return response
        refusal = response
      } catch (error) {
        copy?.end()
        place.end()
        throw error
      }
    }
  }
  return Object.assign(paced as unknown as F, { close: () => limiter.close() })
}

/** Frees the connection of an answer that nobody reads; node-fetch has bodies of Node. */
function discard(response: Response | undefined): void {
  const body: { cancel?(): Promise<void>; destroy?(): void } = response?.body ?? {}
  if (body.cancel === undefined) body.destroy?.()
  else body.cancel().catch(() => {})
}

/** Whether the body of a refusal, as far as it comes in time, says that no later attempt will help. */
async function saysNever(response: Response, { obey }: Settings): Promise<boolean> {
  const isJson = response.headers.get('content-type')?.includes('json')
  if (response.status !== 429 || !isJson || !obey.has('openai')) return false
  const copy = copyBody(response, MAX_REFUSAL)
  const timer = setTimeout(() => copy?.end(), MAX_REFUSAL_MS)
  await copy?.ended
  clearTimeout(timer)
  return FINAL_CODES.test(await new Blob(copy?.chunks ?? []).text())
}

/** The response that frees its place, and settles, when its body has ended. */
function ending(response: Response, place: Place, { settle }: Settings): Response {
  const settles = settle.some((each) => each !== undefined)
  return watchResponse(response, HOLD_MS, settles, (text) => {
    place.end(settle.map((each) => each && attempted(() => each(response, text))))
  })
}

function attempted(settle: () => number | undefined): number | undefined {
  try {
    const units = settle()
    if (units === undefined || (Number.isSafeInteger(units) && units >= 0)) return units
  } catch {
    // As if it had returned something else.
  }
  warnOnce(
    'SLUICE_SETTLE',
    'A settle function of limitOutgoing threw, or did not return an integer from 0 on. The estimate stays charged.',
  )
  return undefined
}

function isRequest(input: unknown): input is Request {
  return typeof input === 'object' && input !== null && 'url' in input && 'method' in input
}

function requestOf(input: Request | string | URL, init: RequestInit | undefined): OutgoingRequest {
  const request = isRequest(input) ? input : undefined
  return {
    url: request?.url ?? String(input),
    method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init?.headers ?? request?.headers),
    body: init?.body ?? request?.body,
  }
}

/** Whether a body can be sent again: a stream is gone when it has been read. */
function isKept(body: unknown): boolean {
  if (ArrayBuffer.isView(body)) return true
  // By name, since other libraries have classes of their own. That of the package form-data is a stream.
  const isKnown = REPEATABLE.test(Object.prototype.toString.call(body))
  return isKnown && typeof (body as { pipe?: unknown } | undefined)?.pipe !== 'function'
}
