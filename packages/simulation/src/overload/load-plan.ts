import { Draw } from '../draw.ts'

/** A class of requests. */
export interface PlannedClass {
  readonly name: string
  readonly reserve: number
  /** Which part of the arrivals is of it. */
  readonly share: number
}

/** What serves requests, and how much it can do. */
export interface PlannedServer {
  /** Computes, waits for a database, or does both: then the database is what is scarce. */
  readonly kind: 'computes' | 'database' | 'both'
  /** Requests that it can serve in a second. */
  readonly perSecond: number
  /** Connections of the database. */
  readonly connections: number
  /** Whether queries differ in how long they take. */
  readonly varies: boolean
}

/** Something that changes at a time. Times are ms. */
export type Change = { readonly at: number } & (
  | { readonly kind: 'load'; readonly times: number }
  /** The server can do so many times as much as planned. */
  | { readonly kind: 'capacity'; readonly factor: number }
  /** The process stands still: it collects garbage, or is suspended. */
  | { readonly kind: 'stall'; readonly ms: number }
)

/** All of a run with more load than a server can serve that is decided before it begins. */
export interface LoadPlan {
  readonly seed: number
  readonly server: PlannedServer
  /** The most important first. */
  readonly classes: readonly PlannedClass[]
  readonly queue: { readonly max: number; readonly maxWait: number }
  readonly clients: number
  /** Which part of the requests is of one client. */
  readonly greedy: number
  /** How long clients wait for an answer, ms. */
  readonly patienceMs: number
  /** Which part of the clients leaves much earlier. */
  readonly impatient: number
  readonly isFetch: boolean
  readonly changes: readonly Change[]
  /** When the last request may come, ms. */
  readonly duration: number
}

/** Plans a run; the same for the same seed. */
export function loadOf(seed: number): LoadPlan {
  const draw = new Draw(seed)
  const kind = draw.oneOf(['computes', 'database', 'both'] as const)
  const connections = draw.oneOf([5, 10, 20])
  const server = {
    kind,
    perSecond: 100,
    connections,
    varies: draw.chance(0.3),
  }
  const peak = draw.oneOf([3, 3, 3, 10])
  const changes: Change[] = [
    { at: 0, kind: 'load', times: 0.8 },
    { at: 6000, kind: 'load', times: peak },
    { at: 16_000, kind: 'load', times: draw.oneOf([0.5, 0.8]) },
  ]
  const classes = draw.oneOf([
    { critical: 0.3, normal: 0, batch: 0 },
    { critical: 0, normal: 0, batch: 0.2 },
    { critical: 0.3, normal: 0, batch: 0.1 },
    { critical: 0, normal: 0, batch: 0 },
  ])
  // Those that are critical alone fit; batch asks for its reserved share, or for less.
  const critical = draw.oneOf([0.3, 0.5]) / peak
  const batch = draw.oneOf([0.05, 0.3])
  const trouble = draw.oneOf([undefined, undefined, 'pause', 'suspension', 'pauses'] as const)
  if (trouble === 'pause') changes.push({ at: draw.integer(1000, 20_000), kind: 'stall', ms: 500 })
  if (trouble === 'suspension')
    changes.push({ at: draw.integer(1000, 20_000), kind: 'stall', ms: 5000 })
  if (trouble === 'pauses')
    for (let at = draw.integer(500, 2000); at < 24_000; at += draw.integer(2000, 4000))
      changes.push({ at, kind: 'stall', ms: draw.integer(100, 500) })
  let duration = 24_000
  if (draw.chance(0.15)) {
    // What is usual is measured anew after a while.
    changes.push({ at: 9000, kind: 'capacity', factor: draw.oneOf([0.5, 2]) })
    changes[2] = { at: 45_000, kind: 'load', times: 0.4 }
    duration = 53_000
  }
  changes.sort((one, other) => one.at - other.at)
  return {
    seed,
    server,
    classes: [
      { name: 'critical', reserve: classes.critical, share: critical },
      { name: 'normal', reserve: classes.normal, share: 1 - critical - batch },
      { name: 'batch', reserve: classes.batch, share: batch },
    ],
    queue: draw.oneOf([
      { max: 200, maxWait: 1000 },
      { max: 200, maxWait: 1000 },
      { max: 20, maxWait: 500 },
    ]),
    clients: draw.oneOf([3, 20]),
    greedy: draw.oneOf([0, 0.5]),
    patienceMs: 3000,
    impatient: draw.oneOf([0, 0.1]),
    isFetch: draw.chance(0.3),
    changes,
    duration,
  }
}
