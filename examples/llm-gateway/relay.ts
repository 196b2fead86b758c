import { once } from 'node:events'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { RequestHandler } from 'express'
import { callerOf } from './callers.ts'
import type { Usage } from './model.ts'

/** What a request has used that the model has not begun: without it, the estimate would be kept. */
const NOTHING: Usage = { input_tokens: 0, output_tokens: 0 }

/**
 * Sends requests to the model, and the events of its answer to the client. What the model says that it
 * used is in `response.locals.usage`: nothing, if it refuses a request or can't be reached.
 *
 * If the client leaves, the model is asked to stop, and its stream is still read to the end: its last
 * event says how much was produced. Then the response is ended, which settles the charge and frees the
 * slot.
 *
 * @param model its address
 * @param paced sends the request when the model has room for it
 */
export function relay(model: string, paced: typeof fetch): RequestHandler {
  return async (request, response) => {
    const reply = await paced(`${model}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...request.body, metadata: { user_id: callerOf(request).id } }),
    }).catch(() => undefined)
    if (reply === undefined) {
      response.locals.usage = NOTHING
      response.status(502).json({ error: 'the model cannot be reached' })
      return
    }
    if (!reply.ok || reply.body === null) {
      response.locals.usage = NOTHING
      response.status(reply.status).json(await reply.json())
      return
    }
    const stop = `${model}/v1/messages/${reply.headers.get('request-id')}/cancel`
    const left = new AbortController()
    const leave = () => {
      left.abort()
      // If this fails, the model completes its answer, and the client pays for all of it.
      if (!response.writableEnded) fetch(stop, { method: 'POST' }).catch(() => {})
    }
    if (response.closed) leave()
    else response.once('close', leave)

    response.type('text/event-stream')
    const text = reply.body.pipeThrough(new TextDecoderStream())
    for await (const { event, data } of text.pipeThrough(new EventSourceParserStream())) {
      if (event === 'message_delta') response.locals.usage = JSON.parse(data).usage as Usage
      if (left.signal.aborted) continue
      const isRead = response.write(`event: ${event}\ndata: ${data}\n\n`)
      if (!isRead) await once(response, 'drain', left).catch(() => {})
    }
    response.end()
  }
}
