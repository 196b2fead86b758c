import type { Exchange } from '../exchange.ts'
import type { Machine } from '../machine.ts'
import type { Owner } from '../owner.ts'
import type { PlannedApplication } from '../plan.ts'

/** What timers, which count whole milliseconds, add to a time, ms. */
export const ROUNDING_MS = 3

/**
 * A request is decided within the deadline, the time for which it may wait, and that during which its own process did
 * not run.
 */
export function checkDeadline(
  { machine, world: { timeline, plan, fail } }: Owner,
  { arrivedAt, hasWaited = false }: Pick<Exchange, 'arrivedAt'> & Partial<Exchange>,
): void {
  const { now } = timeline
  const waitedMs = now - arrivedAt
  const { application } = plan
  const decidedMs = hasWaited ? decidedWithin(application) : application.deadline
  const allowedMs = decidedMs + ROUNDING_MS + stalledMs(machine, arrivedAt, now)
  if (waitedMs > allowedMs) fail('deadline', `decided after ${waitedMs} of ${allowedMs} ms`)
}

/**
 * The calls behind which a wait ends at most: its own last one, that of the one before, a look at the limit of its
 * client, and one that gives back what was charged for somebody who has left.
 */
export const LAST_CALLS = 4

/** How long a request waits for its turn at most, ms. */
export function waitsWithin({ deadline, waits }: PlannedApplication): number {
  return waits === undefined ? 0 : waits.maxMs + LAST_CALLS * deadline
}

/** How long it takes at most until a request is decided, ms: before a wait it is asked for, and after one in vain. */
export function decidedWithin(application: PlannedApplication): number {
  const { deadline, waits } = application
  return waits === undefined ? deadline : 2 * deadline + waitsWithin(application)
}

/** How long a process did not run in a time, ms. */
export function stalledMs({ stalls }: Machine, since: number, until: number): number {
  let ms = 0
  for (const { from, to } of stalls) ms += Math.max(0, Math.min(to, until) - Math.max(from, since))
  return ms
}
