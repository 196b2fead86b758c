import type { PolicyOptions } from '@sluice/core'
import { random } from '@sluice/test-harness/random'
import type { Answer, Asked, History, Operation } from './history.ts'
import { SequentialLimiter, type States } from './sequential.ts'

/** A step of a limiter that may be wrong. */
export type Step = (
  states: States,
  asked: Asked,
  at: number,
) => { states: States; answer?: Answer | undefined }

/** What is drawn of a history. */
export interface Drawn {
  readonly policies: readonly PolicyOptions[]
  readonly operations: number
  /** The share of the requests whose answer is lost, 0 … 1. */
  readonly lost: number
  /** The share of the operations that give back a unit, 0 … 1. */
  readonly givenBack: number
  /** How long before it is carried out an operation was called, at most, and answered after it, ms. */
  readonly spreadMs: number
  /** The limiter that answers. Default: the sequential one */
  readonly step?: Step
}

/** A time of the store, ms since the epoch. */
const START = 1_700_000_000_000
/** Between two operations, ms. */
const PAUSES = [0, 0.01, 0.1, 0.4, 3, 60]
/** How long an operation without an answer may still be carried out, ms. */
const LATE_MS = 20

/** A sequential history made concurrent: each operation has taken some time before and after it was carried out. */
export function drawHistory(
  seed: number,
  { policies, operations, lost, givenBack, spreadMs, ...drawn }: Drawn,
): History {
  const next = random(seed)
  const limiter = new SequentialLimiter(policies)
  const step = drawn.step ?? limiter.carryOut.bind(limiter)
  const all: Operation[] = []
  let states = limiter.unused
  let now = 1000
  for (let i = 0; i < operations; i += 1) {
    now += PAUSES[Math.floor(next() * PAUSES.length)] as number
    const at = START + Math.floor(now)
    const admitted = all.filter(({ answer }) => answer?.allowed)
    const charge = admitted[Math.floor(next() * admitted.length)]
    const asked: Asked =
      charge !== undefined && next() < givenBack
        ? { giveBack: 1, chargedAt: charge.answer?.at as number }
        : { cost: Math.floor(next() * 4) }
    const isLost = next() < lost
    const isCarriedOut = !isLost || next() < 0.5
    const done = step(states, asked, at)
    if (isCarriedOut) states = done.states
    const [called, over] = [now - spreadMs * next(), now + spreadMs * next()]
    const mayBeLate = isLost && next() < 0.5
    all.push({
      process: i % 3,
      asked,
      called,
      over: mayBeLate ? over + LATE_MS : over,
      isCertain: !isLost,
      answer: isLost ? undefined : done.answer,
      from: START + Math.floor(called),
      to: START + Math.ceil(over + (mayBeLate ? LATE_MS : 0)),
    })
  }
  return { policies, operations: all, losses: [], earlyMs: 0 }
}
