import type { AlgorithmName } from '@sluice/core'
import type { AlgorithmParams } from '@sluice/core/store'
import { type Admitted, oracles, queueDelay } from '../../../core/src/algorithms/testing/oracles.ts'
import type { KnownRequest } from './known-traffic.ts'

/*
 * What a replay must report, computed from the definitions of the algorithms alone: from lists of all
 * that was admitted, in exact integers, slowly, and with no code under test.
 */

interface Decided extends KnownRequest {
  /** When it goes on; undefined: it was refused. */
  readonly goesOnMs: number | undefined
}

export function decide(
  algorithm: AlgorithmName,
  params: AlgorithmParams,
  requests: readonly KnownRequest[],
): Decided[] {
  const admitted = new Map<string, Admitted[]>()
  return requests.map((request) => {
    const { client, atMs: at, cost } = request
    const before = admitted.get(client) ?? []
    admitted.set(client, before)
    if (cost > oracles[algorithm](params, before, at)) return { ...request, goesOnMs: undefined }
    const delayMs = algorithm === 'leaky-bucket' ? queueDelay(params, before, at) : 0
    before.push({ at, cost })
    return { ...request, goesOnMs: at + delayMs }
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
