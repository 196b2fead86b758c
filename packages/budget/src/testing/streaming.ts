// A process that keeps so many streams open until its budget refuses all of them: see hard.test.ts.

import { createBudget } from '@sluice/budget'
import { Redis } from 'ioredis'

/** The orders to a process. */
export interface Orders {
  readonly redis: string
  readonly model: string
  readonly who: { readonly key: string; readonly team: string; readonly organisation: string }
  readonly levels: { readonly key: number; readonly team: number; readonly organisation: number }
  readonly lost: 'returned' | 'charged'
  readonly hold: '2s'
  readonly streams: number
}

/** How long a stream that was refused waits before it asks again, ms. */
const ASK_AGAIN_MS = 50
/** Refusals of each stream, one after the other, after which the budget is taken for spent. */
const ENOUGH = 10

process.once('disconnect', () => process.exit())
process.once('message', async ({ redis, model, who, levels, lost, hold, streams }: Orders) => {
  const client = new Redis(redis, { disconnectTimeout: 0 })
  client.on('error', () => {})
  const options = { store: client, unit: 'tokens', window: 'month', levels, lost, hold } as const
  const fetch = createBudget(options).fetch(who)
  const body = {
    model: 'any',
    user: who.key,
    stream: true,
    max_tokens: 40,
    messages: [{ role: 'user', content: 'A question of about thirty tokens in all of its parts' }],
  }
  const init = { method: 'POST', body: JSON.stringify(body) }
  let refused = 0
  const stream = async () => {
    while (refused < ENOUGH * streams) {
      const response = await fetch(`${model}/v1/chat/completions`, init)
      await response.text()
      if (response.ok) refused = 0
      if (response.status === 429) refused += 1
      if (!response.ok) await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    }
  }
  await Promise.all(Array.from({ length: streams }, stream))
  process.send?.('done')
})
