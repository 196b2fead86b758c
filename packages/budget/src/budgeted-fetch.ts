import { estimateTokens, type MediaTokens } from '@sluice/core'
import { type BudgetDecision, messageOf } from './call.ts'
import { type Open, Reading } from './reading.ts'
import { carryOut, isCount, readRequest } from './request.ts'
import { type Json, parsed, UsageReader } from './usage.ts'

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

/** @param maxOutput the most output, where the request does not say it, tokens */
export function budgetedFetch(
  fetch: typeof globalThis.fetch,
  open: Open,
  maxOutput: number,
  mediaTokens?: MediaTokens,
): typeof globalThis.fetch {
  return async (given, init) => {
    const method = (init?.method ?? (given as Request).method ?? 'GET').toUpperCase()
    if (['GET', 'HEAD', 'DELETE'].includes(method)) return fetch(given, init)
    const request = new Request(given, init)
    const { pathname } = new URL(request.url)
    const names = BOUNDS[Object.keys(BOUNDS).find((path) => pathname.endsWith(path)) ?? pathname]
    const body = parsed(await request.text())
    if (names === undefined || typeof body?.model !== 'string') return refusal()
    // A provider may read '100' as a number, or -1 as no bound.
    const factors = [...names, 'n', 'best_of'].map((name) => body[name] ?? 0)
    if (!factors.every(isCount)) return refusal()
    const [bound] = names
    if (bound !== undefined && names.every((name) => !isCount(body[name]))) body[bound] = maxOutput
    const hides = body.stream === true && pathname.endsWith('/completions')
    const options = body.stream_options as Json | undefined
    if (hides) body.stream_options = { ...options, include_usage: true }
    const answers = Math.max(1, ...[body.n, body.best_of].filter(isCount))
    const most = Math.max(0, ...names.map((name) => body[name]).filter(isCount))
    const output = most * answers * promptsOf(body.prompt)
    const input = estimateTokens(body, mediaTokens)
    const { asks, models, modes } = readRequest(body)
    const reading = new Reading()
    const estimates = models.map((model) => ({ ...asks, model, input, output }))
    const call = await open(estimates, reading)
    if (!call.allowed) return refusal(call)
    return carryOut(call, request.signal, async () => {
      const headers = new Headers(request.headers)
      headers.delete('content-length')
      const sent = { method, headers, body: JSON.stringify(body), signal: request.signal }
      const response = await fetch(request.url, { ...init, ...sent })
      if (!response.ok || response.body === null) {
        // A call that the provider refuses has used nothing.
        await (response.ok ? call.release() : call.cancel())
        return response
      }
      const used = new UsageReader(modes)
      if (response.headers.get('content-type')?.includes('event-stream')) {
        const events = used.eventsOf(response.body, hides && options?.include_usage !== true)
        return new Response(reading.of(call, events, used), response)
      }
      const text = await response.text()
      used.read(parsed(text))
      await (used.usage === undefined ? call.release() : call.settle(used.usage))
      return new Response(text, response)
    })
  }
}

/** How many prompts it is: a list of text, or of lists of tokens, has several; a list of tokens is one. */
function promptsOf(prompt: unknown): number {
  if (!Array.isArray(prompt)) return 1
  return Math.max(1, prompt.filter((each) => typeof each !== 'number').length)
}

/** An answer that the clients throw. @param decision left out: no budget knows what the request costs */
function refusal(decision?: BudgetDecision): Response {
  const { reason = 'price', level, remaining, retryAfterMs = Infinity } = decision ?? {}
  const [status, code] = REFUSALS[reason]
  const message =
    decision === undefined ? 'No budget knows what this request costs.' : messageOf(decision)
  const headers = new Headers()
  if (reason !== 'busy') headers.set('x-should-retry', 'false')
  if (retryAfterMs !== Infinity) headers.set('retry-after', `${Math.ceil(retryAfterMs / 1000)}`)
  const error = { type: 'budget', code, message, level, remaining }
  return Response.json({ type: 'error', error }, { status, headers })
}
