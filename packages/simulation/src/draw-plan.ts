import type { AlgorithmName } from '@sluice/core'
import { CALENDAR_NAMES, CALENDARS, type CalendarName } from './calendars.ts'
import { Draw } from './draw.ts'
import { withBudget } from './draw-budgets.ts'
import { withLeases } from './draw-leases.ts'
import { withLive } from './draw-live.ts'
import { withWaits } from './draw-waits.ts'
import {
  type Fault,
  isCall,
  type Plan,
  type PlannedApplication,
  type PlannedBan,
  type PlannedCall,
  type PlannedPolicy,
  type PlannedRequest,
  type PlannedVersion,
  windowOf,
} from './plan.ts'

const DAY_MS = 86_400_000

const ENDINGS = ['settle', 'settle', 'settle twice', 'release'] as const

const NETWORKS = ['198.51.100.0/24', '198.51.100.2/32', '203.0.113.0/24']
const CLIENTS = ['ada', 'bob', 'cyd']

/** Plans a simulation; the same for the same seed. */
export function planOf(seed: number): Plan {
  const draw = new Draw(seed)
  let application = anyApplication(draw)
  const longest = Math.max(...application.policies.map(windowOf))
  const duration = Math.min(600_000, longest * draw.integer(4, 30))
  let requests: PlannedRequest[] = []
  const sessions = draw.integer(3, 14)
  for (let i = 0; i < sessions; i += 1)
    requests.push(...anySession(draw, application, duration, longest))
  requests.sort((one, other) => one.at - other.at)
  let faults: Fault[] = Array.from({ length: draw.oneOf([0, 1, 1, 2, 3, 5]) }, () =>
    anyFault(draw, application, duration, longest),
  )
  faults.push(...anyOwnLimits(draw, application, duration, longest))
  faults.sort((one, other) => one.at - other.at)
  if (draw.chance(0.12)) {
    application = withWindows(draw, application)
    requests = requests.map((each) => withWindowOf(draw, each))
    faults = faults.map((each) => ('policy' in each ? withWindowOf(draw, each) : each))
  }
  if (isAnchored(application) && draw.chance(0.5)) {
    const { policies } = application
    application = { ...application, policies: policies.map(withAnchors) }
    requests = requests.map((each) => (draw.chance(0.4) ? { ...each, otherAnchor: true } : each))
    // A top-up begins a window too.
    faults = faults.filter(({ kind }) => kind !== 'grant')
  }
  const turn = turnOf(application)
  const epoch = turn === undefined ? {} : { epoch: turn - draw.integer(0, duration) }
  if (draw.chance(0.2)) {
    application = withRoute(draw, application)
    requests = requests.map((each) => ofHttp(each, withOneOf(draw, each, 'route', ROUTES)))
  }
  if (draw.chance(0.15)) requests = requests.map((each) => withOneOf(draw, each, 'limit', LIMITS))
  if (draw.chance(0.12)) {
    application = { ...application, lists: anyLists(draw) }
    requests = requests.map((each) => ofHttp(each, withOneOf(draw, each, 'exempt', EXEMPTIONS)))
  }
  if (draw.chance(0.12)) {
    application = { ...application, isFetch: true }
    requests = requests.map((each) => withBodyOf(draw, each, longest))
  }
  if (draw.chance(0.08))
    application = { ...application, goesOn: draw.oneOf(['in a dry run', 'with its decision']) }
  if (application.cluster?.sharded === false && draw.chance(0.5)) {
    application = { ...application, ...countingApart(draw, application) }
    faults.push(anyLossOfMaster(draw, application, duration, longest))
    faults.sort((one, other) => one.at - other.at)
  }
  if (draw.chance(0.15)) {
    application = {
      ...application,
      policies: application.policies.map((each) => withShare(draw, each)),
    }
    faults = faults.map((each) => withShareOf(draw, each))
  }
  faults = withVersions(application, faults)
  const drawn = { seed, ...epoch, duration, application, requests, faults }
  return withBudget(draw, withLeases(draw, withLive(draw, withWaits(draw, drawn))))
}

/** Only a request over HTTP is changed. */
const ofHttp = (request: PlannedRequest, changed: PlannedRequest) =>
  isCall(request) ? request : changed

/** The shares of the clients that policies refuse. */
const SHARES = [0, 0.3, 0.5, 0.7, 1]

/** A policy is a dry run, for all of its clients or for some. */
function withShare(draw: Draw, policy: PlannedPolicy): PlannedPolicy {
  if (draw.chance(0.4)) return { ...policy, dryRun: true }
  return draw.chance(0.6) ? { ...policy, enforce: draw.oneOf(SHARES) } : policy
}

/** Some of the versions that begin refuse another share. */
function withShareOf(draw: Draw, fault: Fault): Fault {
  if ((fault.kind !== 'kill' && fault.kind !== 'leave') || draw.chance(0.5)) return fault
  const { at, kind, process } = fault
  return { at, kind, process, enforce: draw.oneOf(SHARES) }
}

/** Other lengths of windows that depend on the request, ms. */
const WINDOWS = [500, 2000, 7000]

/** The windows of some policies depend on the request. */
function withWindows(draw: Draw, application: PlannedApplication): PlannedApplication {
  const policies = application.policies.map((each) => {
    if ('hold' in each || each.calendar !== undefined || draw.chance(0.3)) return each
    return { ...each, windows: draw.oneOf([[500], [2000], [500, 7000], WINDOWS]) }
  })
  return { ...application, policies }
}

/** Something with one of the choices as a property; left out, if that is undefined. */
function withOneOf<T extends PlannedRequest | Fault>(
  draw: Draw,
  each: T,
  name: 'window' | 'limit' | 'route' | 'exempt',
  choices: readonly (number | string | undefined)[],
): T {
  const value = draw.oneOf(choices)
  return value === undefined ? each : { ...each, [name]: value }
}

const withWindowOf = <T extends PlannedRequest | Fault>(draw: Draw, each: T): T =>
  withOneOf(draw, each, 'window', [undefined, ...WINDOWS])

/** A renewal begins a window too, so reservations have one anchor. */
function withAnchors(policy: PlannedPolicy): PlannedPolicy {
  const hasOther = 'calendar' in policy && policy.calendar && CALENDARS[policy.calendar].other
  return hasOther && policy.reserveMs === undefined ? { ...policy, anchors: true } : policy
}

function isAnchored({ policies }: PlannedApplication): boolean {
  const names = policies.flatMap((each) => ('calendar' in each ? (each.calendar ?? []) : []))
  return names.some((name) => CALENDARS[name].other)
}

/** A route has one of the policies, with another limit. */
function withRoute(draw: Draw, application: PlannedApplication): PlannedApplication {
  const { policies, ban } = application
  const { alertAt: _, ...policy } = draw.oneOf(policies)
  const limit = draw.oneOf([1, 2, 4, 7])
  const counts = 'hold' in policy ? { concurrent: limit } : { limit }
  const routeBan = ban && { ...anyBan(draw), ...(draw.chance(0.5) && { within: ban.within }) }
  return {
    ...application,
    policies: [...policies, { ...policy, ...counts, isOfRoute: true }],
    ...(routeBan && draw.chance(0.5) && { routeBan }),
  }
}

const ROUTES = [undefined, undefined, 'own', 'own', 'shared', 'free']
const LIMITS = [undefined, 1, 3, 3, 10]
const EXEMPTIONS = [undefined, undefined, undefined, 'skip', 'preflight']

/** Where a master is lost, its part is decided by shares of policies that count in different ways. */
function countingApart(
  draw: Draw,
  { policies, processes }: PlannedApplication,
): Partial<PlannedApplication> {
  return {
    policies: policies.map((each, i) => (i === 1 ? { ...each, level: 'organisation' } : each)),
    onStoreError: 'local',
    localShare: draw.oneOf([1, 0.5, 1 / processes]),
  }
}

/** One master of a cluster is away for long. */
function anyLossOfMaster(
  draw: Draw,
  { cluster }: PlannedApplication,
  duration: number,
  longest: number,
): Fault {
  return {
    at: draw.integer(0, Math.floor(duration / 2)),
    kind: draw.oneOf(['freeze', 'restart', 'out of memory']),
    ms: draw.integer(longest, duration + longest),
    master: draw.integer(0, (cluster?.masters ?? 1) - 1),
  }
}

/** Who is on the lists: one client, those of a network or of an organisation, or nobody. */
const LISTED = [
  [],
  ['ada'],
  ['bob', '203.0.113.3'],
  ['198.51.100.2'],
  ['198.51.100.0/24'],
  ['key:acme'],
  ['198.51.100.1', 'cyd'],
] as const

function anyLists(draw: Draw): NonNullable<PlannedApplication['lists']> {
  return { allow: draw.oneOf(LISTED), deny: draw.oneOf([[], ...LISTED]) }
}

function withBodyOf(draw: Draw, request: PlannedRequest, longest: number): PlannedRequest {
  const source = draw.oneOf(['text', 'throws', 'stream', 'stream', 'stream', 'stream that fails'])
  if (isCall(request) || source === 'text') return request
  if (source === 'throws') return { ...request, body: { source } }
  const body = {
    source,
    readMs: draw.oneOf([undefined, 0, 0, 0, draw.integer(0, longest)]),
    pauseMs: draw.oneOf([undefined, undefined, 50, draw.integer(0, longest)]),
    reads: draw.oneOf([undefined, undefined, undefined, 0, 1, 3]),
    cancels: draw.chance(0.5) || undefined,
  }
  // What is not defined is left out.
  return { ...request, body: JSON.parse(JSON.stringify(body)) }
}

/** When a window of the application's calendar begins, ms since the epoch; undefined: it has none. */
function turnOf({ policies }: PlannedApplication): number | undefined {
  const name = policies.flatMap((each) => ('calendar' in each ? (each.calendar ?? []) : []))[0]
  return name && CALENDARS[name].turns[1]
}

function anyApplication(draw: Draw): PlannedApplication {
  const processes = draw.oneOf([1, 2, 2, 3, 4])
  const settles = draw.chance(0.3)
  const calendar = draw.oneOf(CALENDAR_NAMES)
  const policies = Array.from({ length: draw.oneOf([1, 1, 2, 3]) }, (_, i) =>
    anyPolicy(draw, `policy ${i}`, settles, calendar),
  )
  const cluster = draw.chance(0.15) && {
    masters: draw.oneOf([2, 3]),
    sharded: draw.chance(0.4),
  }
  return {
    processes,
    policies: policies.map((each, i) =>
      i > 0 && draw.chance(cluster ? 0.8 : 0.2) ? { ...each, level: 'organisation' } : each,
    ),
    ...(cluster && { cluster }),
    deadline: draw.oneOf([50, 100, 100, 250]),
    onStoreError: draw.oneOf(['local', 'local', 'allow', 'deny']),
    localShare: draw.oneOf([1, 1 / processes]),
    refusalCache: draw.oneOf([undefined, undefined, true, false]),
    joins: draw.chance(0.3) && !cluster,
    queuesOffline: draw.chance(0.5),
    ...(draw.chance(0.3) && { streams: anyReservingPolicy(draw) }),
    ...(draw.chance(0.25) && {
      queue: anyQueue(draw),
      ...(draw.chance(0.2) && { queueBan: anyBan(draw) }),
    }),
    ...(draw.chance(0.2) && { calls: anyCalled(draw) }),
    ...(draw.chance(0.15) && { ban: anyBan(draw) }),
  }
}

function anyBan(draw: Draw): PlannedBan {
  return {
    after: draw.integer(1, 4),
    within: draw.oneOf([2000, 10_000, 10_000, 60_000]),
    for: draw.oneOf([[2000, 20_000], [1000], [500, 3000, 9000]]),
  }
}

/** Algorithms whose charges can be estimates. */
const RESERVING: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'token-bucket']

function anyPolicy(
  draw: Draw,
  name: string,
  settles: boolean,
  calendar?: CalendarName,
): PlannedPolicy {
  const window = draw.oneOf([700, 1000, 1337, 3000, 10_000, 60_000])
  const limit = draw.oneOf([1, 2, 3, 5, 8, 20])
  const alerts = draw.chance(0.3) && { alertAt: draw.oneOf([[0.5, 1], [1], [0.8]]) }
  if (draw.chance(0.25))
    return { name, concurrent: limit, hold: draw.oneOf([1000, 5000, 30_000]), ...alerts }
  const algorithm = draw.oneOf([
    'fixed-window',
    'sliding-window',
    'sliding-window',
    'sliding-log',
    'token-bucket',
    'leaky-bucket',
  ] as const)
  const reserves =
    settles && RESERVING.includes(algorithm) && draw.chance(0.5)
      ? { reserveMs: draw.oneOf([3000, 10_000]) }
      : {}
  const common = {
    name,
    algorithm,
    limit,
    window,
    ...(settles && { settles }),
    ...alerts,
    ...reserves,
  }
  if (algorithm === 'fixed-window' && calendar !== undefined && draw.chance(0.3))
    return { ...common, window: DAY_MS, calendar }
  if (algorithm === 'token-bucket' && draw.chance(0.5))
    return { ...common, burst: draw.integer(1, 12) }
  if (algorithm === 'leaky-bucket')
    return { ...common, maxDelay: draw.oneOf([0, 100, window, 2 * window]) }
  return common
}

function anyReservingPolicy(draw: Draw): NonNullable<PlannedApplication['streams']> {
  return {
    name: 'streams',
    algorithm: draw.oneOf(['fixed-window', 'sliding-window', 'token-bucket']),
    limit: draw.oneOf([3, 8, 20]),
    window: draw.oneOf([1000, 10_000, 60_000]),
    reserveMs: draw.oneOf([3000, 10_000]),
  }
}

/** A policy for which calls wait, with short windows: all of them shall be admitted in the end. */
function anyQueue(draw: Draw): PlannedPolicy {
  const { alertAt: _, ...policy } = anyPolicy(draw, 'queue', false)
  if ('hold' in policy) return { ...policy, hold: draw.oneOf([1000, 5000]) }
  const window = draw.oneOf([700, 1000, 3000, 10_000])
  return { ...policy, window, ...('maxDelay' in policy && { maxDelay: 2 * window }) }
}

/** A policy of a limiter that is called several times in one turn. */
function anyCalled(draw: Draw): PlannedPolicy {
  const algorithm = draw.oneOf(['fixed-window', 'sliding-window', 'sliding-log'] as const)
  return { name: 'calls', algorithm, limit: draw.oneOf([3, 8]), window: draw.oneOf([1000, 10_000]) }
}

function anyCall(draw: Draw): PlannedCall {
  return {
    kind: draw.oneOf(['consume', 'consume', 'consume', 'peek', 'override', 'grant', 'settle']),
    units: draw.integer(1, 4),
  }
}

/** How a call waits for a policy. */
function anyWait(draw: Draw, queue: PlannedPolicy): NonNullable<PlannedRequest['wait']> {
  const ms = windowOf(queue)
  // Nobody knows when a slot is given back, so a call says how long it waits.
  const maxMs = draw.oneOf(['hold' in queue ? ms : undefined, 0, ms / 2, ms, 5 * ms])
  return {
    priority: draw.oneOf([0, 0, 0, 1, -1]),
    ...(maxMs !== undefined && { maxMs: Math.round(maxMs) }),
    ...(draw.chance(0.15) && { abortsMs: draw.oneOf([1, 3, draw.integer(0, 2 * ms)]) }),
    ...('maxDelay' in queue && draw.chance(0.3) && { takesTurn: true }),
  }
}

/** Requests of one client: greedy, patient, all at once, or now and then. */
function anySession(
  draw: Draw,
  { policies, processes, streams, queue, calls }: PlannedApplication,
  duration: number,
  longest: number,
): PlannedRequest[] {
  const client = draw.oneOf(CLIENTS)
  const largest = Math.min(
    ...policies.map((each) => ('limit' in each ? Math.min(each.limit, each.burst ?? 99) : 99)),
  )
  const count = draw.integer(1, 16)
  const pauses = draw.oneOf<() => number>([
    () => 0,
    () => draw.oneOf([0, 0, 1, 50]),
    () => draw.integer(0, longest / 4),
    () => Math.ceil(longest / count),
    () => draw.oneOf([longest - 1, longest, longest + 1]),
  ])
  const retries = draw.oneOf([0, 0, 1, 5])
  const work = draw.oneOf([[0], [0, 5, 200], [0, longest / 3, 2 * longest], [1000, undefined]])
  const endings = streams !== undefined && draw.chance(0.5) ? ENDINGS : [undefined]
  const waits = queue !== undefined && draw.chance(0.6) ? queue : undefined
  const isCalled = calls !== undefined && draw.chance(0.5)
  const process = draw.chance(0.5) ? draw.integer(0, processes - 1) : undefined
  let at = draw.integer(0, duration)
  return Array.from({ length: count }, () => {
    at = Math.round(Math.min(duration, at + pauses()))
    const cost = draw.oneOf([1, 1, 1, 1, 0, 2, draw.integer(1, largest + 1)])
    const workMs = draw.oneOf(work)
    const stream = draw.oneOf(endings)
    return {
      ...(stream && { stream }),
      ...(waits && !stream && { wait: anyWait(draw, waits) }),
      ...(isCalled && { calls: Array.from({ length: draw.integer(2, 6) }, () => anyCall(draw)) }),
      at,
      process: process ?? draw.integer(0, processes - 1),
      client,
      cost,
      actual: draw.oneOf([cost, 0, draw.integer(0, 2 * cost)]),
      ...(workMs !== undefined && { workMs: Math.round(workMs) }),
      ...(draw.chance(0.15) && { leavesMs: draw.integer(0, longest) }),
      ...(retries > 0 && { retries }),
    }
  })
}

function anyFault(
  draw: Draw,
  { processes, cluster }: PlannedApplication,
  duration: number,
  longest: number,
): Fault {
  const on = cluster === undefined ? {} : { master: draw.integer(0, cluster.masters - 1) }
  const at = draw.integer(0, duration)
  const ms = draw.oneOf([10, 150, 1000, 7000, longest, 3 * longest])
  const by = draw.oneOf([-3_600_000, -longest, -500, 500, longest, 3_600_000])
  const process = draw.integer(0, processes - 1)
  const client = draw.oneOf(CLIENTS)
  const tags = cluster?.sharded ? ['acme', 'initech'] : ['key:ada', 'key:acme']
  const moves = () => ({ at, kind: 'move keys', tag: draw.oneOf(tags), ms }) as const
  return draw.oneOf<() => Fault>([
    () => ({ at, kind: draw.oneOf(['freeze', 'out of memory', 'read only']), ms, ...on }),
    () => ({ at, kind: 'slow server', ms, by: draw.oneOf([5, 60, 200]), ...on }),
    () => ({ at, kind: 'restart', ms, ...draw.oneOf([{}, { lost: 0 }, { lost: 1000 }]), ...on }),
    () => ({ at, kind: 'restart', ms: 0, lost: draw.oneOf([10, 300, 5000]), ...on }),
    () => ({ at, kind: draw.oneOf(['evict', 'flush']), ...on }),
    () => ({ at, kind: 'server clock', by, ...on }),
    () => ({ at, kind: draw.oneOf(['lose requests', 'lose replies', 'stall']), process, ms }),
    () => ({ at, kind: draw.oneOf(['reset connection', 'send twice']), process }),
    () => ({ at, kind: draw.oneOf(['kill', 'leave']), process }),
    () => ({ at, kind: 'leave', process, limit: draw.integer(1, 10) }),
    () => ({ at, kind: 'leave', process, ...anyVersion(draw) }),
    () => ({ at, kind: 'leave', process, ...anyVersion(draw) }),
    () => ({ at, kind: 'process clock', process, by }),
    () => ({ at, kind: 'reset key', process, client }),
    () => ({ at, kind: 'block key', process, client, ms }),
    () => ({ at, kind: 'block network', process, network: draw.oneOf(NETWORKS), ms }),
    () => ({ at, kind: 'unblock network', process, network: draw.oneOf(NETWORKS) }),
    ...(cluster === undefined ? [] : [moves, moves, moves]),
  ])()
}

/** A version with another option. */
function anyVersion(draw: Draw): PlannedVersion {
  return draw.oneOf<() => PlannedVersion>([
    () => ({ hold: draw.oneOf([1000, 2000, 60_000]) }),
    () => ({ window: draw.oneOf([900, 4000]) }),
    () => ({ algorithm: draw.oneOf(['fixed-window', 'sliding-window', 'token-bucket']) }),
    () => ({ isRenamed: true }),
  ])()
}

/** Where windows or anchors depend on the request, no version counts elsewhere. */
function withVersions({ policies }: PlannedApplication, faults: readonly Fault[]): Fault[] {
  const varies = policies.some((each) => 'windows' in each || 'anchors' in each)
  return faults.map((each) => {
    if (!varies || !countsElsewhere(each)) return each
    const { at, process } = each
    return { at, kind: 'leave', process } as const
  })
}

/** Whether a version begins whose policies count in another place. */
function countsElsewhere(fault: Fault): fault is Extract<Fault, { kind: 'kill' | 'leave' }> {
  if (fault.kind !== 'kill' && fault.kind !== 'leave') return false
  const { window, algorithm, isRenamed } = fault
  return (window ?? algorithm ?? isRenamed) !== undefined
}

/** What operators do with the limits of single clients. */
function anyOwnLimits(
  draw: Draw,
  { policies, processes }: PlannedApplication,
  duration: number,
  longest: number,
): Fault[] {
  const count = draw.oneOf([0, 0, 0, 0, 1, 2, 5])
  const from = draw.integer(0, duration)
  return Array.from({ length: count }, () => {
    const policy = draw.integer(0, policies.length - 1)
    const algorithm = (policies[policy] as { algorithm?: AlgorithmName }).algorithm
    const common = {
      at: Math.min(duration, from + draw.oneOf([0, 0, 5, draw.integer(0, 3 * longest)])),
      process: draw.integer(0, processes - 1),
      client: draw.oneOf(CLIENTS),
      policy,
    }
    const ends = draw.chance(0.5) && { ms: draw.oneOf([500, longest, 3 * longest]) }
    const takesGrants = algorithm !== undefined && !algorithm.endsWith('bucket')
    if (takesGrants && draw.chance(0.5)) {
      const id = draw.oneOf([{}, { id: 'invoice' }, { id: 'invoice' }, { id: 'gift' }])
      return { ...common, kind: 'grant', units: draw.oneOf([1, 2, 10]), ...id, ...ends }
    }
    return { ...common, kind: 'override', units: draw.oneOf([0, 1, 2, 5, 10, 40, null]), ...ends }
  })
}
