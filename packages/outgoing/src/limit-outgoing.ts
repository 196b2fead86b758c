import { WaitError } from '@sluice/core'
import { warnOnce } from '@sluice/core/adapter'
import { watchResponse } from './body.ts'
import { type Answer, readAnswer } from './fields.ts'
import {
  type OutgoingOptions,
  type OutgoingRequest,
  readSettings,
  type Settings,
} from './options.ts'
import { HOLD_MS, type Place } from './outgoing-limiter.ts'

/** The most of a refusal's body that is read, characters. */
const MAX_REFUSAL = 16_384
/** What OpenAI's refusals say that no wait will change. */
const FINAL_CODES = /"(insufficient_quota|billing_hard_limit_reached|billing_not_active)"/

type Fetch = typeof globalThis.fetch

/** A fetch that waits for its turn. */
export type PacedFetch<F> = F & {
  /** Rejects all that wait. What is in flight goes on. */
  close(): void
}

/**
 * A `fetch` that keeps to the limits of the servers that it calls, together with all other processes of the same
 * store. A call waits until your policies, what the server has said is left, and pauses after a 429 allow it.
 *
 * @param fetch the platform's, undici's, or another with the same contract
 * @returns a fetch with the same signature. It rejects with a `WaitError` if the wait would be longer than
 *   `maxWait`, with the signal's reason if that aborts first, otherwise as `fetch` does
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function limitOutgoing<F extends (input: never, init?: never) => Promise<object>>(
  fetch: F,
  options: OutgoingOptions = {},
): PacedFetch<F> {
  const settings = readSettings(options)
  const { limiter, attempts, maxWaitMs } = settings
  const send = fetch as unknown as Fetch
  const paced: Fetch = async (input, init) => {
    const request = requestOf(input as Request | string | URL, init)
    const costs = settings.costsOf(request)
    const key = settings.keyOf(request)
    const deadline = performance.now() + maxWaitMs
    const signal = init?.signal ?? (isRequest(input) ? input.signal : undefined)
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
      refusal?.body?.cancel().catch(() => {})
      const response = await send(input, init).catch((error: unknown) => {
        place.end()
        throw error
      })
      const answer = await answerOf(response, settings)
      const waitMs = place.heard(answer)
      if (!answer.isRefusal) return ending(response, place, settings)
      // What was refused has used nothing but an attempt.
      place.end(costs.map((_, i) => (limiter.policies[i]?.unit === 'requests' ? undefined : 0)))
      const isInTime = performance.now() + waitMs <= deadline
      if (answer.isFinal || attempt === attempts || !isInTime || !isRepeatable(request, settings))
        return response
      refusal = response
    }
  }
  return Object.assign(paced as unknown as F, { close: () => limiter.close() })
}

async function answerOf(response: Response, { obey }: Settings): Promise<Answer> {
  const answer = readAnswer(response.status, response.headers, obey, Date.now())
  if (response.status !== 429 || answer.isFinal || !obey.has('openai')) return answer
  return { ...answer, isFinal: FINAL_CODES.test(await startOf(response)) }
}

/** The beginning of a refusal's body, which stays to be read. */
async function startOf(response: Response): Promise<string> {
  let text = ''
  if (!response.headers.get('content-type')?.includes('json')) return text
  try {
    for await (const chunk of response.clone().body ?? []) {
      text += new TextDecoder().decode(chunk)
      if (text.length > MAX_REFUSAL) break
    }
  } catch {
    // Its reader gets the error.
  }
  return text
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

/** Whether it may be sent again, and can be: a stream is gone when it has been read. */
function isRepeatable({ method, headers, body }: OutgoingRequest, { methods }: Settings): boolean {
  if (!methods.has(method) && !headers.has('idempotency-key')) return false
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    ArrayBuffer.isView(body) ||
    [ArrayBuffer, Blob, FormData, URLSearchParams].some((kind) => body instanceof kind)
  )
}
