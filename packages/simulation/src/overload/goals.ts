import type { Fail } from '../stage.ts'
import type { Call } from './call.ts'
import type { LoadPlan } from './load-plan.ts'

/** An answer is good within that, ms. */
const GOOD_MS = 1000
/** A request begins soon if it waits for no longer than so many take. */
const SOON = 50
/** How long it may take until shedding is as it should be, ms. */
const SETTLES_MS = 5000
/** How long it may take after the server can do more or less, or was suspended, ms. */
const LEARNS_MS = 25_000
/** A pause that is longer is a suspension: clients leave meanwhile, ms. */
const PAUSE_MS = 1000
/** What is shorter says little, ms. */
const LEAST_MS = 3000

/** A time in which nothing changes, ms of the simulation. */
interface Stretch {
  readonly from: number
  readonly to: number
  /** The requests that come, as a part of those that can be served. */
  readonly load: number
  /** How many can be served in a second. */
  readonly perSecond: number
}

/** The stretches of a plan, each from when on everything should have settled. */
function stretchesOf({ changes, server, duration, patienceMs }: LoadPlan): Stretch[] {
  let times = 0
  let factor = 1
  let learnsUntil = 0
  const stretches = changes.map((change, i): Stretch => {
    const { at } = change
    if (change.kind === 'load') times = change.times
    if (change.kind === 'capacity') {
      factor = change.factor
      learnsUntil = at + LEARNS_MS
    }
    if (change.kind === 'stall')
      learnsUntil = Math.max(
        learnsUntil,
        at + change.ms + (change.ms > PAUSE_MS ? LEARNS_MS : SETTLES_MS),
      )
    const next = changes[i + 1]
    const isSuspended = next?.kind === 'stall' && next.ms > PAUSE_MS
    return {
      from: at === 0 ? 0 : Math.max(learnsUntil, at + SETTLES_MS),
      to: (next?.at ?? duration) - (isSuspended ? patienceMs : 0),
      load: times / factor,
      perSecond: server.perSecond * factor,
    }
  })
  return stretches.filter(({ from, to }) => to - from >= LEAST_MS)
}

/**
 * Whether nothing is known to keep it from its goals: a short queue; or a database whose queries differ, which has
 * become faster or slower, or which needs all of the first limit. How long its queries take while nothing waits is
 * measured too badly then.
 */
function hasGoals({ server, queue, changes }: LoadPlan, { from }: Stretch): boolean {
  const { kind, connections, varies } = server
  const hasChanged = changes.some((each) => each.kind === 'capacity' && each.at < from)
  const isUnknown = varies || hasChanged || (from === 0 && connections > 10)
  return queue.max >= 100 && (kind === 'computes' || !isUnknown)
}

/**
 * While less comes than can be done, it is done. While more comes, most of what can be done is, and what is critical.
 * The bounds leave room for chance.
 */
export function checkGoals(plan: LoadPlan, calls: readonly Call[], fail: Fail): void {
  for (const stretch of stretchesOf(plan)) {
    if (!hasGoals(plan, stretch)) continue
    const { from, to, load, perSecond } = stretch
    const sent = calls.filter(({ sentAt, isPatient }) => isPatient && sentAt >= from && sentAt < to)
    const expect = (what: string, share: number, least: number) => {
      if (share < least)
        fail('load', `at ${load} of what can be done, ${what}: ${share.toFixed(3)}`)
    }
    const isSoonBegun = ({ begunAt = Infinity, arrivedAt }: Call) =>
      begunAt - arrivedAt <= (SOON * 1000) / perSecond
    if (load <= 0.8) expect('requests that soon begin', shareOf(sent, isSoonBegun), 0.95)
    if (load < 2.5) continue
    const good = calls.filter((each) => isGood(each) && isIn(stretch, each.endedAt))
    const goodput = (good.length * 1000) / (to - from) / perSecond
    expect('good answers of those that can be given', goodput, 0.85)
    const [{ share = 0 } = {}] = plan.classes
    const critical = sent.filter(({ importance }) => importance === 0)
    if (share * load <= 0.6)
      expect('critical requests that are served', shareOf(critical, isServed), 0.9)
  }
}

function shareOf(calls: readonly Call[], is: (call: Call) => boolean): number {
  return calls.filter(is).length / Math.max(1, calls.length)
}

function isServed({ result }: Call): boolean {
  return result === 'served'
}

function isGood({ result, endedAt = Infinity, sentAt }: Call): boolean {
  return result === 'served' && endedAt - sentAt <= GOOD_MS
}

function isIn({ from, to }: Stretch, at: number | undefined): boolean {
  return at !== undefined && at >= from && at < to
}
