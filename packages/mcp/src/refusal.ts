import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Decision } from '@sluice/core'
import { refusingPolicy } from '@sluice/core/internal'

/** The code of SEP-3304, `RateLimited`. */
const RATE_LIMITED = -32023
/** The field of a result's `_meta`. */
const META = 'io.github.sluicejs/rate-limit'

/** The wait, for programs. Without a time, no wait is enough. */
function dataOf(decision: Decision) {
  const { retryAfterMs, policies } = decision
  const policy = policies[refusingPolicy(decision)]?.name
  const wait = { retryAfterMs, retryAfter: Math.ceil(retryAfterMs / 1000) }
  return { ...(retryAfterMs < Infinity && wait), policy }
}

/** The wait, for a model. @param tool the tool that has a limit of its own, if that refuses */
function textOf({ retryAfterMs, policies }: Decision, tool?: string): string {
  if (retryAfterMs === Infinity) return 'Do not try again: no wait is enough.'
  const seconds = Math.ceil(retryAfterMs / 1000)
  const wait = `Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  if (policies.length === 0) return `${wait}, then try again: the limit can't be checked now.`
  return tool === undefined
    ? `${wait} before your next call.`
    : `${wait} before you call ${tool} again. Other tools may work meanwhile.`
}

/** A refusal that clients show to the model. */
export function toolRefusal(decision: Decision): CallToolResult {
  const data = dataOf(decision)
  const [, tool] = /^tool:(.*)/.exec(data.policy ?? '') ?? []
  const text = `Rate limit exceeded. ${textOf(decision, tool)}`
  return { isError: true, content: [{ type: 'text', text }], _meta: { [META]: data } }
}

/** The SDK's transport of a single HTTP request: what is replaced. */
export interface HttpExchange {
  settleResponse?(response: Response): void
}

/** Adds the wait to the HTTP response, and the status 429 to errors. A response that is streamed has begun already. */
export function refuseOverHttp(
  exchange: HttpExchange | undefined,
  decision: Decision,
  isTool: boolean,
): void {
  const settle = exchange?.settleResponse?.bind(exchange)
  if (exchange === undefined || settle === undefined) return
  exchange.settleResponse = ({ body, headers }) => {
    const { retryAfter } = dataOf(decision)
    if (retryAfter !== undefined) headers.set('Retry-After', `${retryAfter}`)
    settle(new Response(body, { status: isTool ? 200 : 429, headers }))
  }
}

/** A refusal as an error of the protocol. */
export class RateLimited extends Error {
  readonly code = RATE_LIMITED
  readonly data: ReturnType<typeof dataOf>

  constructor(decision: Decision) {
    super(`Rate limit exceeded (429 Too Many Requests). ${textOf(decision)}`)
    this.data = dataOf(decision)
  }
}
