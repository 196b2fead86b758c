import type { ServerResponse } from 'node:http'
import { WirePolicy } from './wire-policy.ts'
import type { WireItem, WireState } from './wire-state.ts'

/**
 * Where a response keeps what the limiters that it has passed have written into its fields. Copies
 * of this package in one process (ESM and CommonJS) share it, so its shape is part of the name:
 * `items` with `policy.terms`, `remaining` and `effectiveMs`; `violated`, some of them; `now`.
 */
const WRITTEN = Symbol.for('sluice.written.1')

type Outgoing = ServerResponse & { [WRITTEN]?: WireState }

/** What has been written already, if anything. */
export function readWritten(response: ServerResponse): WireState | undefined {
  const written = (response as Outgoing)[WRITTEN]
  if (written === undefined || written.items[0]?.policy instanceof WirePolicy) return written
  const own = new Map(written.items.map((item) => [item, adopt(item)]))
  const items = [...own.values()]
  return { ...written, items, violated: written.violated.map((item) => own.get(item) as WireItem) }
}

export function noteWritten(response: ServerResponse, state: WireState): void {
  const outgoing: Outgoing = response
  outgoing[WRITTEN] = state
}

/** The item of another copy, whose classes are not these. */
function adopt({ policy, remaining, effectiveMs }: WireItem): WireItem {
  return { policy: new WirePolicy(policy.terms), remaining, effectiveMs }
}
