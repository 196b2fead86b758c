import type { FormatName } from '../log/formats/reading.ts'
import type { UnreadableLine } from '../log/input/read-log.ts'
import type { PolicySummary } from '../replay/runs/policy-summary.ts'

/**
 * The result of a replay: printed as a table, drawn as a page, written as JSON. Times are integer ms
 * since the epoch, durations integer ms, all on the log's own clock. Requests are log lines;
 * units are what they cost (one each, by default). Before it is written anywhere, its
 * texts are made printable.
 */
export interface Report {
  /** The version of the schema, raised when a field changes its meaning or goes. */
  readonly schema: 1
  readonly source: LogSource
  readonly requests: number
  readonly clients: number
  readonly timeline: Timeline
  /** The runs: one for each algorithm that was played, or that of a configuration file, and with `--policy` the same with it. */
  readonly runs: readonly Run[]
  /** The demand of clients, before any limit: one for each window that a run has. */
  readonly demand: readonly Demand[]
  /** The notable findings, a sentence each. */
  readonly findings: readonly string[]
  /** Limits that are suggested, only if asked for. */
  readonly suggestion: Suggestion | undefined
}

export interface LogSource {
  /** The names of the log's files, without their folders; `-` is standard input. */
  readonly names: readonly string[]
  /** False: clients and lines are shown in full. */
  readonly masked: boolean
  readonly format: FormatName
  /** All lines but empty ones; for CSV without the header. */
  readonly lines: number
  readonly unreadable: number
  /** The first few. */
  readonly unreadableLines: readonly UnreadableLine[]
  /** Lines more than a minute ahead of most that follow them: played when they came. */
  readonly early: number
  /** Lines that came more than a minute after their place: played when they came. */
  readonly late: number
  /** The times in the log have no fractions: requests of one second count as coming together. */
  readonly wholeSeconds: boolean
  readonly fromMs: number
  readonly toMs: number
  /** True if it was stopped before the end: the figures cover what was played until then. */
  readonly interrupted: boolean
}

/** Requests over the log's time, in steps of one length. */
export interface Timeline {
  readonly startMs: number
  readonly stepMs: number
  readonly requests: readonly number[]
}

export interface Run {
  /** The algorithm, or the name of the configuration file. */
  readonly name: string
  readonly policies: readonly PolicySummary[]
  readonly requests: number
  readonly admitted: number
  readonly refused: number
  /** Requests that are exempt by `skip`, `allow` or `routes`; they are admitted, and counted as such. */
  readonly exempt: number
  /** Clients that met a refusal. */
  readonly clientsRefused: number
  /** Bans that began. */
  readonly bans: number
  /** Clients that were banned at least once. */
  readonly clientsBanned: number
  /** Requests that each policy would have refused as a dry run, which refuses nothing. */
  readonly wouldRefuse: readonly number[]
  /** The most that one client was admitted, for each policy. */
  readonly most: readonly MostAdmitted[]
  /** The longest time in which a client met only refusals: from the first to the last of them. */
  readonly longestRefusedMs: number
  /** The most keys that the store held at a time. */
  readonly peakKeys: number
  /** Steps as in `Report.timeline`. */
  readonly admittedTimeline: readonly number[]
  readonly refusedTimeline: readonly number[]
  /** The clients that were refused most, most first. */
  readonly mostRefused: readonly RefusedClient[]
}

/**
 * The most units that one client was admitted in any true window `(t − windowMs, t]`; of a policy that
 * counts requests in progress, the most at the same time.
 */
export interface MostAdmitted {
  readonly policy: string
  readonly units: number
  readonly client: string
  /** The end of that window, or when they came together. */
  readonly atMs: number
  /** Clients that were admitted more than 100 %, 125 %, 150 % of the limit in some window. */
  readonly over: readonly { readonly share: number; readonly clients: number }[]
}

export interface RefusedClient {
  /** The client's key, masked unless identifiers were asked for. */
  readonly client: string
  readonly requests: number
  readonly refused: number
  readonly longestRefusedMs: number
}

/** How clients' peaks are spread: a peak is the most units of a client in any true window. */
export interface Demand {
  readonly windowMs: number
  /** The limits of the policies with that window, to be drawn into it. */
  readonly limits: readonly number[]
  /** How many clients have their peak in `[from, to]`: ascending, without gaps. */
  readonly bins: readonly { readonly from: number; readonly to: number; readonly clients: number }[]
  readonly quantiles: readonly { readonly share: number; readonly peak: number }[]
}

/** Limits at which so many clients would never have been refused. */
export interface Suggestion {
  readonly windowMs: number
  readonly rows: readonly {
    /** 0.99, 0.999, 0.9999. */
    readonly share: number
    readonly limit: number
    /** The smallest burst of a token bucket of that limit with which none of them is refused. */
    readonly burst: number
  }[]
}
