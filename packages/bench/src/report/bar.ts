import { differences, isDistinguishable } from '../statistics/differences.ts'
import { median } from '../statistics/quartiles.ts'
import { bestOf, figureOf } from './measurement.ts'
import type { Bar, Measurement, Row, Verdict } from './results.ts'

/** Holds ours against so many times a peer's. A claim stands only where the rounds tell the two apart. */
export function goal(of: Measurement, ours: Row, atMost: number, peer: Row, claim?: string): Bar {
  const bar = {
    ...compared(of, ours, peer),
    goal: { atMost, verdict: verdictOf(ours, atMost, peer) },
  }
  const isClear = verdictOf(ours, 1, peer) !== 'not distinguishable'
  return claim !== undefined && isClear ? { ...bar, claim } : bar
}

/** Shows where the floor is, beside the same peer. */
export function floor(of: Measurement, row: Row, peer: Row): Bar {
  return compared(of, row, peer)
}

function compared({ title, unit }: Measurement, row: Row, peer: Row): Bar {
  const { contender } = row
  const figures = { figure: figureOf(row), peer: peer.contender, peerFigure: figureOf(peer) }
  return { work: title, unit, contender, ...figures }
}

/** The rounds decide if they have a direction, and only together with the best ones. */
function verdictOf(ours: Row, atMost: number, peer: Row): Verdict {
  // A difference to a base falls below zero where noise is larger than it.
  if (figureOf(peer).median <= 0 || bestOf(peer) <= 0) return 'not distinguishable'
  const allowed = peer.samples.map((sample) => sample * atMost)
  const margins = differences(allowed, ours.samples)
  const isMet = median(margins) >= 0
  const isMetAtBest = bestOf(ours) <= bestOf(peer) * atMost
  if (isMet !== isMetAtBest || !isDistinguishable(margins)) return 'not distinguishable'
  return isMet ? 'met' : 'not met'
}

/** A peer of each round that is a number: what is not a ratio but a bound. */
export function bound(ours: Row, name: string, value: number): Row {
  return { contender: name, samples: ours.samples.map(() => value) }
}
