import { once } from 'node:events'
import type { BudgetCall } from '@sluice/budget'
import { estimateTokens } from '@sluice/budget'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Request, RequestHandler, Response } from 'express'
import type { GatewayBudget } from './budget.ts'
import { callerOf } from './callers.ts'
import type { Usage } from './model.ts'

/**
 * Reserves the most that a request may cost, sends it to the model, and relays the answer's events to the client.
 * Then it charges the usage that the model reports: nothing, if the model refuses it or can't be reached.
 *
 * If the client disconnects, the model is asked to stop, and its stream is still read to the end: its last
 * event has the usage. If the connection breaks, the usage is unknown, and the reservation stays charged.
 *
 * @param address that of the model
 * @param paced sends the request when the model has room for it
 */
export function relay(address: string, paced: typeof fetch, budget: GatewayBudget): RequestHandler {
  return async (request, response) => {
    const { key, team, organisation } = callerOf(request)
    const model = String(request.body?.model ?? 'large')
    const input = estimateTokens(request.body ?? '')
    const estimate = { model, input, output: mostTokens(request) }
    const call = await budget.reserve({ key, team, organisation }, estimate)
    if (!call.allowed) {
      refuse(call, response)
      return
    }
    try {
      const reply = await paced(`${address}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...request.body, metadata: { user_id: key } }),
      }).catch(async (error: unknown) => {
        if (isUnsent(error)) await call.cancel()
        response.status(502).json({ error: 'the model cannot be reached' })
      })
      if (reply === undefined) return
      if (!reply.ok || reply.body === null) {
        await call.cancel()
        response.status(reply.status).json(await reply.json())
        return
      }
      const usage = await passOn(reply, address, response)
      if (usage)
        await call.settle({ model, input: usage.input_tokens, output: usage.output_tokens })
    } finally {
      await call.release()
      response.end()
    }
  }
}

/** @returns the usage of the answer, if its stream reports it */
async function passOn(reply: globalThis.Response, address: string, response: Response) {
  const stop = `${address}/v1/messages/${reply.headers.get('request-id')}/cancel`
  const left = new AbortController()
  const leave = () => {
    left.abort()
    // If this fails, the model completes its answer, and the client pays for all of it.
    if (!response.writableEnded) fetch(stop, { method: 'POST' }).catch(() => {})
  }
  if (response.closed) leave()
  else response.once('close', leave)

  let usage: Usage | undefined
  response.type('text/event-stream')
  const text = (reply.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(
    new TextDecoderStream(),
  )
  for await (const { event, data } of text.pipeThrough(new EventSourceParserStream())) {
    if (event === 'message_delta') usage = JSON.parse(data).usage as Usage
    if (left.signal.aborted) continue
    const isRead = response.write(`event: ${event}\ndata: ${data}\n\n`)
    if (!isRead) await once(response, 'drain', left).catch(() => {})
  }
  return usage
}

function refuse({ level, reason, remaining, resetMs }: BudgetCall, response: Response): void {
  if (reason === 'store') {
    response.status(503).json({ error: 'budgets cannot be checked at present' })
    return
  }
  if (reason === 'price') {
    response.status(400).json({ error: 'this model has no price' })
    return
  }
  response.status(429).set('Retry-After', String(Math.ceil(resetMs / 1000)))
  response.json({ error: `the budget of the ${level} is spent`, level, remaining })
}

/** Whether it is certain that nothing was sent: no turn in time, no connection, no such host. */
function isUnsent(error: unknown): boolean {
  const { name, syscall, cause, errors } = Object(error)
  if (errors?.length > 0) return errors.every(isUnsent)
  if (name === 'WaitError' || syscall === 'connect' || syscall === 'getaddrinfo') return true
  return cause !== undefined && isUnsent(cause)
}

/** The most that the answer may use. The model refuses a request without it. */
function mostTokens({ body }: Request): number {
  const most: unknown = body?.max_tokens
  return Number.isSafeInteger(most) && (most as number) > 0 ? (most as number) : 0
}
