import { WirePolicy } from './wire-policy.ts'
import type { WireItem, WireState } from './wire-state.ts'

/**
 * The place on a request for the state that its limiters have written into the fields. Copies
 * of this package in one process (ESM and CommonJS) share it, so its shape is part of the name:
 * `items` with `policy.terms`, `remaining`, `effectiveMs` and `resetMs`; `violated`, some of them; `now`.
 */
const WRITTEN = Symbol.for('sluice.written.2')

type Marked = { [WRITTEN]?: WireState }

/** What has been written already, if anything. @param identity of the request */
export function readWritten(identity: object): WireState | undefined {
  const written = (identity as Marked)[WRITTEN]
  if (written === undefined || written.items[0]?.policy instanceof WirePolicy) return written
  const own = new Map(written.items.map((item) => [item, adopt(item)]))
  const items = [...own.values()]
  return { ...written, items, violated: written.violated.map((item) => own.get(item) as WireItem) }
}

export function noteWritten(identity: object, state: WireState): void {
  const marked: Marked = identity
  marked[WRITTEN] = state
}

/** The item of another copy, whose classes are not these. */
function adopt({ policy, ...state }: WireItem): WireItem {
  return { policy: new WirePolicy(policy.terms), ...state }
}
