import { count, duration, listed, percent } from '@sluice/terminal/words'
import type { Replay } from '../replay/replay.ts'
import type { Report, Run } from './report.ts'

type Facts = Omit<Report, 'findings'>

/** A limit that is exceeded by more is worth a sentence. */
const FAR_OVER = 1.5
/** The share of requests above which one client is worth a sentence. */
const LARGE_SHARE = 0.25
const FEW_REQUESTS = 100
/** The share of clients refused above which the limit is low, rather than the clients greedy. */
const MANY_REFUSED = 0.05
/** In a shorter window, a second is more than a tenth, ms. */
const SHORT_WINDOW_MS = 10_000
/** The fewest clients of which shares say anything. */
const FEW_CLIENTS = 20
/** The share of lines unreadable or late that is worth a finding. */
const MANY_LINES = 0.01

/** The notable findings, a sentence each: the log first, then the runs. */
export function findingsOf(
  report: Facts,
  replay: Replay,
  name: (client: number) => string,
): string[] {
  const { runs } = report
  return [
    ...aboutLines(report),
    ...aboutSeconds(report),
    ...aboutLargest(report, replay, name),
    ...runs.flatMap(aboutFarOver),
    ...aboutMany(report),
    ...runs.flatMap(aboutDryRuns),
    ...aboutBans(runs),
    ...aboutNobody(runs),
    ...aboutLongest(runs),
  ]
}

function aboutLines({ source: { lines, unreadable, early, late } }: Facts): string[] {
  const found: string[] = []
  if (unreadable > lines * MANY_LINES) {
    found.push(`${percent(unreadable / lines)} of the lines could not be read and were left out`)
  }
  if (early > lines * MANY_LINES) {
    found.push(
      `${percent(early / lines)} of the lines were more than a minute ahead of those around them and were ` +
        'played when they came: are the clocks right?',
    )
  }
  if (late > lines * MANY_LINES) {
    found.push(
      `${percent(late / lines)} of the lines came more than a minute late and were played when they came: ` +
        'are the files in order, and the clocks right?',
    )
  }
  return found
}

/** A window of a few seconds counts what the log, not the client, has put into one second. */
function aboutSeconds({ source, runs, suggestion }: Facts): string[] {
  if (!source.wholeSeconds) return []
  const windows = runs
    .filter(({ refused }) => refused > 0 || suggestion !== undefined)
    .flatMap(({ policies }) => policies.flatMap(({ windowMs }) => windowMs ?? []))
  const shortest = Math.min(...windows)
  return shortest < SHORT_WINDOW_MS
    ? [
        `the log has only whole seconds, so in a window of ${duration(shortest)} some refusals come from ` +
          'the log: all requests of a second count as coming together. Log milliseconds ($msec of nginx, ' +
          '%{msec}t of Apache), or take a window of 10 s or more',
      ]
    : []
}

function aboutLargest(
  { requests }: Facts,
  replay: Replay,
  name: (client: number) => string,
): string[] {
  const largest = replay.largestClient()
  if (largest < 0 || requests < FEW_REQUESTS) return []
  const share = replay.requestsOf(largest) / requests
  return share > LARGE_SHARE
    ? [`one client makes ${percent(share)} of all requests: ${name(largest)}`]
    : []
}

function aboutFarOver(run: Run): string[] {
  const found: string[] = []
  for (const [i, { over }] of run.most.entries()) {
    const far = over.find(({ share }) => share === FAR_OVER)
    if (far === undefined || far.clients === 0) continue
    const policy = run.policies.length > 1 ? ` (${run.policies[i]?.name})` : ''
    found.push(
      `${run.name}${policy} let ${count(far.clients, 'client')} through with more than ` +
        `${percent(FAR_OVER)} of the limit`,
    )
  }
  return found
}

function aboutMany({ runs, clients }: Facts): string[] {
  if (clients < FEW_CLIENTS) return []
  const many = runs.filter(({ clientsRefused }) => clientsRefused > clients * MANY_REFUSED)
  if (many.length === 0) return []
  const most = Math.max(...many.map(({ clientsRefused }) => clientsRefused))
  return [
    `${listed(many.map(({ name }) => name))} refused more than ${percent(MANY_REFUSED)} of the clients ` +
      `at least once (${percent(most / clients)} at most), which is many for a limit against abuse`,
  ]
}

/** The table has no figure of what a dry run would have refused. */
function aboutDryRuns({ name, policies, wouldRefuse, requests }: Run): string[] {
  return policies.flatMap(({ name: policy, enforced = 1 }, i) => {
    if (enforced === 1) return []
    const refused = wouldRefuse[i] as number
    const share = requests === 0 ? '' : ` (${percent(refused / requests)})`
    const whom = enforced === 0 ? '' : ` of clients outside of the ${percent(enforced)}`
    return [`${name}: ${policy} would refuse ${count(refused, 'request')}${share}${whom}`]
  })
}

function aboutBans(runs: readonly Run[]): string[] {
  const banning = runs.filter(({ bans }) => bans > 0)
  const [first] = banning
  if (first === undefined) return []
  const names = listed(banning.map(({ name }) => name))
  const most = Math.max(...banning.map(({ clientsBanned }) => clientsBanned))
  return banning.length === 1
    ? [`${names} banned ${count(most, 'client')}, with ${count(first.bans, 'ban')}`]
    : [`${names} banned clients, ${most} at most`]
}

function aboutNobody(runs: readonly Run[]): string[] {
  if (runs.length === 0) return []
  if (runs.every(({ refused }) => refused === 0)) {
    const [first] = runs
    return [runs.length === 1 ? `${first?.name} refused nobody` : 'no algorithm refused anybody']
  }
  return runs.filter(({ refused }) => refused === 0).map(({ name }) => `${name} refused nobody`)
}

function aboutLongest(runs: readonly Run[]): string[] {
  const longest = runs.reduce<Run | undefined>(
    (most, run) => (run.longestRefusedMs > (most?.longestRefusedMs ?? 0) ? run : most),
    undefined,
  )
  if (longest === undefined) return []
  const windowMs = Math.max(...longest.policies.map((policy) => policy.windowMs ?? Infinity))
  return longest.longestRefusedMs > 2 * windowMs
    ? [`${longest.name} refused a client for ${duration(longest.longestRefusedMs)} on end`]
    : []
}
