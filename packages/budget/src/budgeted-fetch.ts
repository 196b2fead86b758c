import { type BudgetDecision, messageOf, unpriced } from './call.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { ModelCall, type Open } from './model-call.ts'
import type { Settings } from './options.ts'
import { isCount, type Json } from './request.ts'
import { parsed } from './usage.ts'

/** The fields that bound the output, by the end of a path; none where there is no output. */
const BOUNDS: { readonly [path: string]: readonly string[] } = {
  '/chat/completions': ['max_completion_tokens', 'max_tokens'],
  '/completions': ['max_tokens'],
  '/responses': ['max_output_tokens'],
  '/messages': ['max_tokens'],
  '/embeddings': [],
}
/** The status and the code of a refusal, by its reason. */
const REFUSALS = {
  budget: [429, 'budget_exceeded'],
  busy: [429, 'budget_busy'],
  store: [503, 'budget_unknown'],
  price: [400, 'budget_unknown'],
} as const

export function budgetedFetch(
  fetch: typeof globalThis.fetch,
  open: Open,
  { maxOutput, mediaTokens }: Settings,
): typeof globalThis.fetch {
  return async (given, init) => {
    const asked = (init?.method ?? (given as Request).method ?? 'GET').toUpperCase()
    if (['GET', 'HEAD', 'DELETE'].includes(asked)) return fetch(given, init)
    const request = new Request(given, init)
    const { signal, method, url } = request
    const { pathname } = new URL(url)
    const names = BOUNDS[Object.keys(BOUNDS).find((path) => pathname.endsWith(path)) ?? pathname]
    const body = parsed(await request.text())
    const unknown = () => refusal(unpriced, 'No budget knows what this request costs.')
    if (names === undefined || typeof body.model !== 'string') return unknown()
    // A provider may read '100' as a number, or -1 as no bound.
    const factors = [...names, 'n', 'best_of'].map((name) => body[name] ?? 0)
    if (!factors.every(isCount)) return unknown()
    const [bound] = names
    if (bound !== undefined && names.every((name) => !isCount(body[name]))) body[bound] = maxOutput
    const hides = body.stream === true && pathname.endsWith('/completions')
    const options = body.stream_options as Json | undefined
    if (hides) body.stream_options = { ...options, include_usage: true }
    const largest = (from: number, ...fields: readonly string[]) =>
      Math.max(from, ...fields.map((name) => body[name]).filter(isCount))
    const output = largest(0, ...names) * largest(1, 'n', 'best_of') * promptsOf(body.prompt)
    const call = new ModelCall(body, { input: estimateTokens(body, mediaTokens), output })
    const reserved = await call.reserve(open)
    if (!reserved.allowed) return refusal(reserved)
    return call.make(signal, async () => {
      const headers = new Headers(request.headers)
      headers.delete('content-length')
      const sent = { method, headers, body: JSON.stringify(body), signal }
      const response = await fetch(url, { ...init, ...sent })
      // A call that the provider refuses has used nothing.
      if (!response.ok) await reserved.cancel()
      if (!response.ok || response.body === null) {
        await call.end()
        return response
      }
      if (response.headers.get('content-type')?.includes('event-stream')) {
        const events = call.used.eventsOf(response.body, hides && options?.include_usage !== true)
        return new Response(call.stream(events), response)
      }
      const text = await response.text()
      call.used.readWhole(parsed(text))
      await call.end()
      return new Response(text, response)
    })
  }
}

/** How many prompts it is: a list of text, or of lists of tokens, has several; a list of tokens is one. */
function promptsOf(prompt: unknown): number {
  if (!Array.isArray(prompt)) return 1
  return Math.max(1, prompt.filter((each) => typeof each !== 'number').length)
}

/** An answer that the clients throw. */
function refusal(decision: BudgetDecision, message = messageOf(decision)): Response {
  const { reason = 'budget', level, remaining, retryAfterMs } = decision
  const [status, code] = REFUSALS[reason]
  const headers = new Headers()
  if (reason !== 'busy') headers.set('x-should-retry', 'false')
  if (retryAfterMs !== Infinity) headers.set('retry-after', `${Math.ceil(retryAfterMs / 1000)}`)
  const error = { type: 'budget', code, message, level, remaining }
  return Response.json({ type: 'error', error }, { status, headers })
}
