import type { FrameworkName } from '../contenders/frameworks.ts'
import { AS_PEER, FLOOR_OF_DEFAULTS, FLOOR_OF_PEER } from '../contenders/http.ts'
import { OURS_OF_3, RATE_LIMIT_REDIS } from '../contenders/redis.ts'
import { COUNTING, OURS } from '../contenders/sluice.ts'
import { differences, isDistinguishable } from '../statistics/differences.ts'
import { median } from '../statistics/quartiles.ts'
import { bestOf, bestPeer, rowOf } from './measurement.ts'
import type { Measurement, Row } from './results.ts'

/** The most that ours may be, as a multiple of a peer's figure in the same run. */
export interface Goal {
  /** The title of the measurement. */
  readonly work: string
  readonly ours: string
  readonly atMost: number
  /** A contender; `best peer`: the one with the least median; or a number with its unit, as `160 bytes`. */
  readonly peer: string
  /** The name of the work in the README, which shows the ratio if the rounds tell the two apart. */
  readonly claim?: string | undefined
}

const BEST = 'best peer'
const FEW_KEYS = 'One decision in memory, 10,000 keys'
const ALLOCATED = 'Allocated by one decision in memory, every field read'
const SCRIPT = "Redis' script time of a call for one request"
const CLUSTER_SCRIPT = "Cluster: Redis' script time for one request, 50 clients at once"
const CROWDED_REDIS = 'CPU of Redis, 50 requests in a turn'

/** The limiter of each framework that ours is held against. */
const OF_FRAMEWORK: { readonly [framework in FrameworkName]: string } = {
  Express: 'express-rate-limit',
  Fastify: '@fastify/rate-limit',
  Koa: 'koa-ratelimit',
  Hono: 'hono-rate-limiter',
  'Hono on @hono/node-server 1': 'hono-rate-limiter',
}

/** Makes the same goal for each algorithm but the log. */
function ofEach(work: string, atMost: number, peer: string, claim?: string): Goal[] {
  return COUNTING.map((algorithm) => {
    const ours = `sluice ${algorithm}`
    return { work, ours, atMost, peer, claim: ours === OURS ? claim : undefined }
  })
}

function ofDefault(work: string, atMost: number, claim?: string): Goal {
  return { work, ours: OURS, atMost, peer: BEST, claim }
}

export const GOALS: readonly Goal[] = [
  ...ofEach(FEW_KEYS, 1, '@fastify/rate-limit LocalStore.incr', 'a decision in memory'),
  ...ofEach(ALLOCATED, 1, '160 bytes'),
  ...ofEach(SCRIPT, 1.25, RATE_LIMIT_REDIS),
  { work: SCRIPT, ours: OURS_OF_3, atMost: 2.5, peer: RATE_LIMIT_REDIS },
  ofDefault('CPU of Redis, one request at a time', 1.05, 'in Redis with one request at a time'),
  ofDefault(
    'CPU of Node, one request at a time',
    1.05,
    'in Node with one request at a time on Redis',
  ),
  ofDefault('Median latency on Redis, one request at a time', 1),
  ofDefault('99th percentile of that latency, one request at a time', 1),
  ofDefault(CROWDED_REDIS, 0.4, 'Redis, with 50 requests at once'),
  { work: CROWDED_REDIS, ours: OURS_OF_3, atMost: 1, peer: BEST },
  ofDefault('CPU of Node, 50 requests in a turn', 0.45, 'Node, with 50 requests at once on Redis'),
  ofDefault('Median latency on Redis, 200 requests a second', 1),
  ofDefault('99th percentile of that latency, 200 requests a second', 1),
  ...ofEach(CLUSTER_SCRIPT, 1.25, BEST),
  ...Object.entries(OF_FRAMEWORK).flatMap(([framework, peer]): Goal[] => {
    const work = `${framework}: CPU that a limiter in memory adds to one request`
    const claim = `what it adds to a ${framework} request, in memory`
    return [
      { work, ours: AS_PEER, atMost: 1, peer, claim },
      { work, ours: AS_PEER, atMost: 1.3, peer: FLOOR_OF_PEER },
      { work, ours: 'sluice', atMost: 1.3, peer: FLOOR_OF_DEFAULTS },
    ]
  }),
]

export type Verdict = 'met' | 'not met' | 'not distinguishable'

/** A goal beside what was measured. */
export interface Judged extends Goal {
  /** The medians. */
  readonly figure: number
  readonly peerFigure: number
  readonly verdict: Verdict
}

/** The goals whose work was measured. */
export function judge(
  measurements: readonly Measurement[],
  goals: readonly Goal[] = GOALS,
): Judged[] {
  return goals.flatMap((goal) => {
    const of = measurements.find(({ title }) => title === goal.work)
    return of === undefined ? [] : [judged(goal, of)]
  })
}

function judged(goal: Goal, of: Measurement): Judged {
  const ours = rowOf(of, goal.ours)
  const peer = peerOf(goal, of, ours)
  const isClear = verdictOf(ours, 1, peer) !== 'not distinguishable'
  return {
    ...goal,
    peer: peer.contender,
    figure: median(ours.samples),
    peerFigure: median(peer.samples),
    verdict: verdictOf(ours, goal.atMost, peer),
    claim: isClear ? goal.claim : undefined,
  }
}

function peerOf({ peer }: Goal, of: Measurement, ours: Row): Row {
  if (peer === BEST) return bestPeer(of)
  const bound = Number.parseInt(peer, 10)
  if (Number.isNaN(bound)) return rowOf(of, peer)
  return { contender: peer, samples: ours.samples.map(() => bound) }
}

/** The rounds decide if they have a direction, and only together with the best ones. */
function verdictOf(ours: Row, atMost: number, peer: Row): Verdict {
  // A difference to a base falls below zero where noise is larger than it.
  if (median(peer.samples) <= 0 || bestOf(peer) <= 0) return 'not distinguishable'
  const allowed = peer.samples.map((sample) => sample * atMost)
  const margins = differences(allowed, ours.samples)
  const isMet = median(margins) >= 0
  const isMetAtBest = bestOf(ours) <= bestOf(peer) * atMost
  if (isMet !== isMetAtBest || !isDistinguishable(margins)) return 'not distinguishable'
  return isMet ? 'met' : 'not met'
}
