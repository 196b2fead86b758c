import type { KnownRequest } from './known-traffic.ts'

/*
 * What a replay must report, computed from the definitions of the algorithms alone: from lists of all
 * that was admitted, in exact integers, slowly, and with no code under test.
 */

export interface OraclePolicy {
  readonly limit: bigint
  readonly windowMs: bigint
  readonly burst: bigint
  readonly maxDelayMs: bigint
}

interface Admitted {
  readonly at: bigint
  readonly cost: bigint
}

/** How long an admitted request waits, ms; undefined: it is refused. */
type Definition = (
  policy: OraclePolicy,
  admitted: readonly Admitted[],
  now: bigint,
  cost: bigint,
) => bigint | undefined

export const definitions: Readonly<Record<string, Definition>> = {
  'fixed-window'({ limit, windowMs }, admitted, now, cost) {
    const inWindow = admitted.filter(({ at }) => at / windowMs === now / windowMs)
    return sum(inWindow) + cost <= limit ? 0n : undefined
  },
  'sliding-window'({ limit, windowMs }, admitted, now, cost) {
    const of = (window: bigint) => sum(admitted.filter(({ at }) => at / windowMs === window))
    const window = now / windowMs
    const inside = (window + 1n) * windowMs - 1n - now
    const estimate = (of(window - 1n) * inside) / windowMs + of(window)
    return estimate + cost <= limit ? 0n : undefined
  },
  'sliding-log'({ limit, windowMs }, admitted, now, cost) {
    const inside = admitted.filter(({ at }) => at > now - windowMs && at <= now)
    return sum(inside) + cost <= limit ? 0n : undefined
  },
  'token-bucket'(policy, admitted, now, cost) {
    const { windowMs, burst } = policy
    return level(policy, admitted, now) + cost * windowMs <= burst * windowMs ? 0n : undefined
  },
  'leaky-bucket'(policy, admitted, now, cost) {
    const { limit, windowMs, maxDelayMs } = policy
    const queued = level(policy, admitted, now)
    if (queued + cost * windowMs > windowMs + maxDelayMs * limit) return undefined
    return (queued + limit - 1n) / limit
  },
}

/** The content of a bucket that drains `limit` units per window, multiplied by the window. */
function level({ limit, windowMs }: OraclePolicy, admitted: readonly Admitted[], now: bigint) {
  let parts = 0n
  let since = admitted[0]?.at ?? now
  for (const { at, cost } of [...admitted, { at: now, cost: 0n }]) {
    parts -= (at - since) * limit
    if (parts < 0n) parts = 0n
    parts += cost * windowMs
    since = at
  }
  return parts
}

function sum(admitted: readonly Admitted[]): bigint {
  return admitted.reduce((total, { cost }) => total + cost, 0n)
}

interface Decided extends KnownRequest {
  /** When it goes on; undefined: it was refused. */
  readonly goesOnMs: number | undefined
}

export function decide(
  algorithm: string,
  policy: OraclePolicy,
  requests: readonly KnownRequest[],
): Decided[] {
  const admitted = new Map<string, Admitted[]>()
  return requests.map((request) => {
    const { client, atMs } = request
    const before = admitted.get(client) ?? []
    admitted.set(client, before)
    const at = BigInt(atMs)
    const cost = BigInt(request.cost)
    const delay = (definitions[algorithm] as Definition)(policy, before, at, cost)
    if (delay === undefined) return { ...request, goesOnMs: undefined }
    before.push({ at, cost })
    return { ...request, goesOnMs: atMs + Number(delay) }
  })
}

/** The figures of a run, as the report has them. */
export function figuresOf(decided: readonly Decided[], limit: number, windowMs: number) {
  const clients = [...new Set(decided.map(({ client }) => client))]
  const of = (client: string) => decided.filter((each) => each.client === client)
  const peaks = clients.map((client) => peakOf(of(client), windowMs))
  const [most] = peaks
    .filter((peak) => peak !== undefined)
    .sort((one, other) => other.units - one.units || one.atMs - other.atMs)
  const isRefused = ({ goesOnMs }: Decided) => goesOnMs === undefined
  const refused = decided.filter(isRefused)
  return {
    requests: decided.length,
    admitted: decided.length - refused.length,
    refused: refused.length,
    clientsRefused: new Set(refused.map(({ client }) => client)).size,
    most: {
      ...most,
      over: [1, 1.25, 1.5].map((share) => ({
        share,
        clients: peaks.filter((peak) => peak !== undefined && peak.units > share * limit).length,
      })),
    },
    longestRefusedMs: Math.max(...clients.map((client) => longestRefused(of(client)))),
    mostRefused: clients
      .map((client) => ({
        client,
        requests: of(client).length,
        refused: of(client).filter(isRefused).length,
        longestRefusedMs: longestRefused(of(client)),
      }))
      .filter((each) => each.refused > 0)
      .sort((one, other) => other.refused - one.refused)
      .slice(0, 10),
  }
}

/** The most units that went on in a window `(t − windowMs, t]`, and the first t of such a one. */
function peakOf(decided: readonly Decided[], windowMs: number) {
  const gone = decided.filter((each) => each.goesOnMs !== undefined)
  let peak: { units: number; atMs: number; client: string } | undefined
  for (const [i, { goesOnMs: atMs = 0, client }] of gone.entries()) {
    const units = gone
      .slice(0, i + 1)
      .filter(({ goesOnMs = 0 }) => goesOnMs > atMs - windowMs && goesOnMs <= atMs)
      .reduce((total, { cost }) => total + cost, 0)
    if (units > (peak?.units ?? 0)) peak = { units, atMs, client }
  }
  return peak
}

/** The longest time from the first to the last of refusals that no admission interrupts, ms. */
function longestRefused(decided: readonly Decided[]): number {
  let longest = 0
  let since: number | undefined
  for (const { atMs, goesOnMs } of decided) {
    if (goesOnMs !== undefined) {
      since = undefined
      continue
    }
    since ??= atMs
    longest = Math.max(longest, atMs - since)
  }
  return longest
}

/** Requests in each step, of those that `counts`. */
export function timelineOf(
  decided: readonly Decided[],
  startMs: number,
  stepMs: number,
  counts: (each: Decided) => boolean,
): number[] {
  const last = (decided.at(-1) as Decided).atMs
  const steps = new Array<number>(Math.floor((last - startMs) / stepMs) + 1).fill(0)
  for (const each of decided) {
    const step = Math.floor((each.atMs - startMs) / stepMs)
    if (counts(each)) steps[step] = (steps[step] as number) + 1
  }
  return steps
}
