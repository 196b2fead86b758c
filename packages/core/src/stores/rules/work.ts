import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { Charge, Requests } from '../store.ts'
import { mostUnits } from './own-terms.ts'
import { hasClaim } from './slots.ts'

/**
 * The most work of one call, in charges of a state of three integers: Redis decides so many in about
 * a millisecond.
 */
const MAX_WORK = 160
/** Entries of a state that take as long to read as one charge. */
const ENTRIES = 64
/** The part of a charge that one more claim of the same key takes. */
const CLAIM = 1 / 2

/** How much work a request is at most. */
export function workOf(charges: readonly Pick<Charge, 'limit'>[]): number {
  let work = 0
  for (let i = 0; i < charges.length; i += 1) work += workOn((charges[i] as Charge).limit)
  return work
}

/** Whether so much work is too much for one call, unless it is a single request. */
export function isTooMuch(work: number): boolean {
  return work > MAX_WORK
}

/** Requests whose claims are to be renewed, in calls of so much work at most, of as few keys as possible. */
export function renewalCalls(requests: Iterable<readonly Charge[]>): Requests[] {
  const sorted = Array.from(requests, (charges) => [keyOf(charges), charges] as const)
  sorted.sort(([one], [other]) => (one < other ? -1 : Number(one > other)))
  const calls: (readonly Charge[])[][] = []
  let known = new Set<string>()
  let work = Infinity
  for (const [, charges] of sorted) {
    work += renewalWork(charges, known)
    if (isTooMuch(work)) {
      calls.push([])
      known = new Set()
      work = renewalWork(charges, known)
    }
    calls.at(-1)?.push(charges)
  }
  return calls
}

function workOn(limit: CompiledLimit): number {
  const { keepsLog, maxEntries = keepsLog ? mostUnits(limit) : 0 } = limit.algorithm
  return 1 + maxEntries / ENTRIES
}

/** @param known the keys of the call, to which it adds its own */
function renewalWork(charges: readonly Charge[], known: Set<string>): number {
  let work = 0
  for (const [place, { key, limit, claim }] of charges.entries()) {
    if (claim === undefined) continue
    const id = `${place} ${key}`
    work += known.has(id) ? CLAIM : workOn(limit)
    known.add(id)
  }
  return work
}

/** The key of the first charge that has a claim. */
function keyOf(charges: readonly Charge[]): string {
  return charges.find(hasClaim)?.key ?? ''
}
