import type { Exchange } from '../exchange.ts'
import type { Machine } from '../machine.ts'
import type { World } from '../world.ts'

/** What timers, which count whole milliseconds, add to the deadline, ms. */
const ROUNDING_MS = 3

/** A request is decided within the deadline, and the time during which its own process did not run. */
export function checkDeadline(
  { timeline, plan, fail }: World,
  { stalls }: Machine,
  { arrivedAt }: Pick<Exchange, 'arrivedAt'>,
): void {
  const { now } = timeline
  const waitedMs = now - arrivedAt
  let allowedMs = plan.application.deadline + ROUNDING_MS
  for (const { from, to } of stalls)
    allowedMs += Math.max(0, Math.min(to, now) - Math.max(from, arrivedAt))
  if (waitedMs > allowedMs) fail('deadline', `decided after ${waitedMs} of ${allowedMs} ms`)
}
