import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import express, { type Response } from 'express'

export interface Usage {
  input_tokens: number
  output_tokens: number
}

const MS_PER_TOKEN = 5

/**
 * Starts a simulated language model API on a free loopback port. A token is a word. The answer repeats
 * the words of the prompt until it has `max_tokens`, or is cancelled. `/bill` shows what each `user_id`
 * has used.
 */
export async function startModel(): Promise<{ readonly url: string }> {
  const running = new Map<string, AbortController>()
  const bill = new Map<string, Usage>()
  const app = express()

  app.post('/v1/messages', express.json(), async ({ body }, response) => {
    const words = wordsOf(body?.messages)
    const most: unknown = body?.max_tokens
    if (words.length === 0 || !Number.isSafeInteger(most) || (most as number) < 1) {
      response.status(400).json({ error: 'send messages, and max_tokens ≥ 1' })
      return
    }
    const id = randomUUID()
    const cancelled = new AbortController()
    running.set(id, cancelled)
    response.on('close', () => cancelled.abort())
    response.type('text/event-stream').set('request-id', id)
    send(response, 'message_start', { id })
    const usage: Usage = { input_tokens: words.length, output_tokens: 0 }
    while (usage.output_tokens < (most as number) && !cancelled.signal.aborted) {
      const text = words[usage.output_tokens % words.length]
      usage.output_tokens += 1
      send(response, 'content_block_delta', { delta: { type: 'text_delta', text: `${text} ` } })
      await setTimeout(MS_PER_TOKEN)
    }
    running.delete(id)
    const sum = bill.get(body.metadata.user_id) ?? { input_tokens: 0, output_tokens: 0 }
    sum.input_tokens += usage.input_tokens
    sum.output_tokens += usage.output_tokens
    bill.set(body.metadata.user_id, sum)
    send(response, 'message_delta', { usage })
    send(response, 'message_stop', {})
    response.end()
  })
  app.post('/v1/messages/:id/cancel', ({ params }, response) => {
    running.get(params.id)?.abort()
    response.sendStatus(202)
  })
  app.get('/bill', (_, response) => {
    response.json(Object.fromEntries(bill))
  })

  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function send(response: Response, type: string, data: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
}

function wordsOf(messages: unknown): string[] {
  if (!Array.isArray(messages)) return []
  return messages.flatMap((message) => String(message?.content ?? '').match(/\S+/g) ?? [])
}
