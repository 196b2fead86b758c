// A process that asks for the keys until it is killed, and writes down what it asked and got.

import { setTimeout as delay } from 'node:timers/promises'
import { createLimiter, type Limiter } from '@sluice/core'
import { random } from '@sluice/test-harness/random'
import { KEYS, prefixOf } from './keys.ts'
import { DEADLINE_MS, Log } from './log.ts'
import { type Address, openStore } from './open-store.ts'

/** What it is started with. */
export interface Work {
  readonly address: Address
  /** The name of its connections. */
  readonly name: string
  readonly log: string
  readonly seed: number
}

/** The most requests that are made in the same turn of the event loop. */
const MOST_TOGETHER = 2
const LARGEST_COST = 3
const LONGEST_PAUSE_MS = 5
/** The share of the admitted requests that give a unit back. */
const GIVEN_BACK = 0.1

process.once('disconnect', () => process.exit())
process.on('warning', () => {})
const { address, name, seed, log: path } = JSON.parse(process.argv[2] as string) as Work
const log = new Log(path)
const draw = random(seed)
const below = (count: number) => Math.floor(draw() * count)
const store = openStore(address, name)
const limiters = Object.entries(KEYS).map(([key, policies]) => ({
  key,
  limiter: createLimiter({
    policies: [...policies],
    store,
    prefix: prefixOf(key),
    deadline: DEADLINE_MS,
    refusalCache: false,
    onStoreError: 'deny',
  }),
}))

await Promise.all(limiters.map(({ key, limiter }) => untilStoreDecides(key, limiter)))
await askForEver()

async function askForEver(): Promise<void> {
  for (;;) {
    const { key, limiter } = limiters[below(limiters.length)] as (typeof limiters)[number]
    const together = Array.from({ length: 1 + below(MOST_TOGETHER) }, () => ask(key, limiter))
    const all = await Promise.all(together)
    if (all.includes('gave up')) await untilStoreDecides(key, limiter)
    await delay(below(LONGEST_PAUSE_MS))
  }
}

async function ask(key: string, limiter: Limiter<'async'>): Promise<'answered' | 'gave up'> {
  const cost = below(LARGEST_COST + 1)
  const id = log.call(key, { cost })
  const decision = await limiter.consume(key, { cost })
  if (decision.source !== 'store') {
    log.gaveUp(id)
    return 'gave up'
  }
  log.answered(id, decision)
  if (decision.allowed && cost > 0 && draw() < GIVEN_BACK) await giveBack(key, limiter, decision.at)
  return 'answered'
}

async function giveBack(key: string, limiter: Limiter<'async'>, chargedAt: number): Promise<void> {
  const id = log.call(key, { giveBack: 1, chargedAt })
  try {
    await limiter.settle(key, -1, { at: chargedAt })
    log.done(id)
  } catch {
    log.gaveUp(id)
  }
}

/** Requests that cost nothing change nothing, so they are not written down. */
async function untilStoreDecides(key: string, limiter: Limiter<'async'>): Promise<void> {
  while ((await limiter.consume(key, { cost: 0 })).source !== 'store') await delay(10)
}
