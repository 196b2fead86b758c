import { estimateTokens } from '@sluice/core'
import { type BudgetDecision, messageOf } from './call.ts'
import { type Open, Reading } from './reading.ts'
import { eventsOf, isCount, parsed, UsageReader } from './usage-reader.ts'

/** The fields that bound the output, by the end of a path; none where there is no output. */
const BOUNDS: { readonly [path: string]: readonly string[] } = {
  '/chat/completions': ['max_completion_tokens', 'max_tokens'],
  '/completions': ['max_tokens'],
  '/responses': ['max_output_tokens'],
  '/messages': ['max_tokens'],
  '/embeddings': [],
}

/** @param maxOutput the most output, where the request does not say it, tokens */
export function budgetedFetch(
  fetch: typeof globalThis.fetch,
  open: Open,
  maxOutput: number,
): typeof globalThis.fetch {
  return async (input, init) => {
    const method = (init?.method ?? (input as Request).method ?? 'GET').toUpperCase()
    if (['GET', 'HEAD', 'DELETE'].includes(method)) return fetch(input, init)
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    const names = BOUNDS[Object.keys(BOUNDS).find((path) => pathname.endsWith(path)) ?? pathname]
    const body = parsed(await request.text())
    if (names === undefined || typeof body?.model !== 'string') return refusal()
    // A provider may read '100' as a number, or -1 as no bound.
    const factors = [...names, 'n', 'best_of'].map((name) => body[name] ?? 0)
    if (!factors.every(isCount)) return refusal()
    const [bound] = names
    const bounds = names.map((name) => body[name]).filter(isCount)
    if (bound !== undefined && bounds.length === 0) {
      body[bound] = maxOutput
      bounds.push(maxOutput)
    }
    const hides = body.stream === true && pathname.endsWith('/completions')
    const isAsked = (body.stream_options as typeof body | undefined)?.include_usage === true
    if (hides) body.stream_options = { ...(body.stream_options as object), include_usage: true }
    const answers = Math.max(1, ...[body.n, body.best_of].filter(isCount))
    const output = Math.max(0, ...bounds) * answers * promptsOf(body.prompt)
    const reading = new Reading()
    const { model } = body
    const call = await open({ model, input: estimateTokens(body), output }, reading)
    if (!call.allowed) return refusal(call)
    try {
      const headers = new Headers(request.headers)
      headers.delete('content-length')
      const given = { method, headers, body: JSON.stringify(body), signal: request.signal }
      const response = await fetch(request.url, { ...init, ...given })
      if (!response.ok || response.body === null) {
        // A call that the provider refuses has used nothing.
        if (!response.ok) await call.settle({ model, input: 0, output: 0 })
        await call.release()
        return response
      }
      const used = new UsageReader(model, bound !== undefined)
      if (response.headers.get('content-type')?.includes('event-stream')) {
        const each = (event: string) => used.pass(event, hides && !isAsked)
        const events = reading.of(call, eventsOf(response.body), each, () => used.usage)
        return new Response(events, response)
      }
      const text = await response.text()
      used.read(parsed(text))
      if (used.usage !== undefined) await call.settle(used.usage)
      await call.release()
      return new Response(text, response)
    } catch (error) {
      // Nobody knows what it has used.
      await call.release()
      throw error
    }
  }
}

/** How many prompts it is: a list of text, or of lists of tokens, has several; a list of tokens is one. */
function promptsOf(prompt: unknown): number {
  if (!Array.isArray(prompt)) return 1
  return Math.max(1, prompt.filter((each) => typeof each !== 'number').length)
}

/** An answer that the clients throw and do not repeat. @param decision left out: no budget knows what the request costs */
function refusal(decision?: BudgetDecision): Response {
  const { reason, level, remaining } = decision ?? {}
  const code = reason === 'budget' ? 'budget_exceeded' : 'budget_unknown'
  const message =
    decision === undefined ? 'No budget knows what this request costs.' : messageOf(decision)
  const error = { type: 'budget', code, message, level, remaining }
  const status = reason === 'budget' ? 429 : reason === 'store' ? 503 : 400
  const headers = { 'x-should-retry': 'false' }
  return Response.json({ type: 'error', error }, { status, headers })
}
