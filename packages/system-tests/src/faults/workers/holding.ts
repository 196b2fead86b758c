// A process that takes and gives back slots as its parent says: see holder.ts.

import { type Acquisition, createLimiter, type Limiter } from '@sluice/core'
import { Redis } from 'ioredis'
import type { Answer, Message, Order, Terms } from '../holder.ts'

let client: Redis
let limiter: Limiter<'async'>
let held: Acquisition[] = []

function open({ url, ...terms }: Terms): Answer[] {
  client?.disconnect()
  limiter?.close()
  held = []
  client = new Redis(url, { disconnectTimeout: 0 })
  client.on('error', () => {})
  limiter = createLimiter({ ...terms, store: client })
  return []
}

async function acquire(count: number): Promise<Answer[]> {
  const all = await Promise.all(Array.from({ length: count }, () => limiter.acquire('client')))
  held.push(...all.filter(({ allowed }) => allowed))
  return all.map(answerOf)
}

async function release(count: number): Promise<Answer[]> {
  await Promise.all(held.splice(0, count).map((each) => each.release()))
  return []
}

function answerOf({ allowed, source, at, resetMs }: Answer): Answer {
  return { allowed, source, at, resetMs }
}

async function carryOut(order: Order): Promise<Answer[]> {
  if ('open' in order) return open(order.open)
  if ('acquire' in order) return acquire(order.acquire)
  if ('release' in order) return release(order.release)
  return [answerOf(await limiter.peek('client'))]
}

process.once('disconnect', () => process.exit())
process.on('message', async ({ id, order }: Message) => {
  process.send?.({ id, answers: await carryOut(order) })
})
