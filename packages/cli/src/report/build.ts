import type { LogInput } from '../log/input/read-log.ts'
import type { Mask } from '../log/mask.ts'
import type { Replay } from '../replay/replay.ts'
import type { Run } from '../replay/runs/run.ts'
import type { PolicyFigures } from '../replay/statistics/policy-figures.ts'
import type { SharedWindow } from '../replay/statistics/shared-window.ts'
import { binsOf, peaksOf, quantilesOf } from './distribution.ts'
import { findingsOf } from './findings.ts'
import type { Demand, MostAdmitted, Report, Run as ReportedRun, Suggestion } from './report.ts'

/** Shares of a limit, as in `MostAdmitted.over`. */
const SHARES_OVER = [1, 1.25, 1.5]
/** Clients listed of those refused. */
const MOST_REFUSED = 10

export interface Played {
  readonly names: readonly string[]
  readonly input: LogInput
  readonly replay: Replay
  readonly suggestion: Suggestion | undefined
  readonly interrupted: boolean
}

/** The results of a replay. */
export function buildReport(played: Played, mask: Mask): Report {
  const { names, input, replay, suggestion, interrupted } = played
  const { requests, clientsMet, timeline, early, late, fromMs, toMs } = replay
  const name = (client: number) => mask.client(replay.clients.key(client), client)
  const { format, lines, unreadable, unreadableLines } = input
  const source = {
    names,
    masked: mask.hides,
    format: format ?? 'combined',
    lines,
    unreadable,
    unreadableLines,
    early,
    late,
    wholeSeconds: input.hasWholeSeconds,
    fromMs,
    toMs,
    interrupted,
  }
  const facts = {
    schema: 1 as const,
    source,
    requests,
    clients: clientsMet,
    timeline: { startMs: timeline.startMs, stepMs: timeline.stepMs, requests: timeline.of(0) },
    runs: replay.runs.map((run) => runOf(run, replay, name)),
    demand: demandsOf(replay),
    suggestion,
  }
  return { ...facts, findings: findingsOf(facts, replay, name) }
}

function runOf({ tally }: Run, replay: Replay, name: (client: number) => string): ReportedRun {
  const { policies, refusals, admitted, refused } = tally
  return {
    name: tally.name,
    policies: policies.map(({ summary }) => summary),
    requests: admitted + refused,
    admitted,
    refused,
    exempt: tally.exempt,
    clientsRefused: refusals.clients,
    bans: tally.bans,
    clientsBanned: tally.clientsBanned,
    wouldRefuse: policies.map(({ wouldRefuse }) => wouldRefuse),
    most: policies.map((policy) => mostOf(policy, replay.clients.count, name)),
    longestRefusedMs: refusals.longestMs,
    peakKeys: tally.peakKeys,
    admittedTimeline: tally.admittedTimeline,
    refusedTimeline: tally.refusedTimeline,
    mostRefused: refusals.worst(MOST_REFUSED).map((client) => ({
      client: name(client),
      requests: replay.requestsOf(client),
      refused: refusals.count(client),
      longestRefusedMs: refusals.longestOf(client),
    })),
  }
}

function mostOf(
  policy: PolicyFigures,
  clients: number,
  name: (client: number) => string,
): MostAdmitted {
  const { summary, most } = policy
  const { limit } = summary
  const over = limit === undefined ? [] : SHARES_OVER.map((share) => ({ share, clients: 0 }))
  for (let client = 0; client < clients; client += 1) {
    const peak = policy.peak(client)
    for (const each of over) if (peak > each.share * (limit as number)) each.clients += 1
  }
  return {
    policy: summary.name,
    units: most.units,
    client: most.client < 0 ? '' : name(most.client),
    atMs: most.atMs,
    over,
  }
}

/** The demands, one for each window: policies that count different clients share the first one's. */
function demandsOf({ demands, clients }: Replay): Demand[] {
  const byWindow = new Map<number, SharedWindow[]>()
  for (const demand of demands) {
    const { windowMs } = demand.window
    byWindow.set(windowMs, [...(byWindow.get(windowMs) ?? []), demand])
  }
  return [...byWindow].map(([windowMs, same]) => {
    const peaks = peaksOf(same[0] as SharedWindow, clients.count)
    const limits = same.flatMap((each) => each.limits).filter((limit) => limit !== undefined)
    return {
      windowMs,
      limits: [...new Set(limits)].sort((one, other) => one - other),
      bins: binsOf(peaks),
      quantiles: quantilesOf(peaks),
    }
  })
}
