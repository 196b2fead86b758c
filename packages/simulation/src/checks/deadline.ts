import type { Exchange } from '../exchange.ts'
import type { Machine } from '../machine.ts'
import type { World } from '../world.ts'

/** What timers, which count whole milliseconds, add to the deadline, ms. */
const ROUNDING_MS = 3

/** A request is decided within the deadline, and the time during which its own process did not run. */
export function checkDeadline(
  { timeline, plan, fail }: World,
  machine: Machine,
  { arrivedAt }: Pick<Exchange, 'arrivedAt'>,
): void {
  const { now } = timeline
  const waitedMs = now - arrivedAt
  const allowedMs = plan.application.deadline + ROUNDING_MS + stalledMs(machine, arrivedAt, now)
  if (waitedMs > allowedMs) fail('deadline', `decided after ${waitedMs} of ${allowedMs} ms`)
}

/** How long a process did not run in a time, ms. */
export function stalledMs({ stalls }: Machine, since: number, until: number): number {
  let ms = 0
  for (const { from, to } of stalls) ms += Math.max(0, Math.min(to, until) - Math.max(from, since))
  return ms
}
