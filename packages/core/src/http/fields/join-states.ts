import { WirePolicy } from './wire-policy.ts'
import type { WireItem, WireState } from './wire-state.ts'

/**
 * The states of two limiters of one response, joined: so each field is written once and lists the
 * policies of both. Of two policies with the same name the later one is numbered,
 * since names link the fields.
 */
export function joinStates(earlier: WireState, later: WireState): WireState {
  const taken = new Set(earlier.items.map(({ policy }) => policy.name.toLowerCase()))
  const renamed = new Map<WireItem, WireItem>()
  for (const item of later.items) {
    const policy = distinct(item.policy, taken)
    renamed.set(item, policy === item.policy ? item : { ...item, policy })
    taken.add(policy.name.toLowerCase())
  }
  const rename = (item: WireItem) => renamed.get(item) as WireItem
  return {
    items: [...earlier.items, ...later.items.map(rename)],
    violated: later.violated.map(rename),
    now: later.now,
  }
}

function distinct(policy: WirePolicy, taken: ReadonlySet<string>): WirePolicy {
  if (!taken.has(policy.name.toLowerCase())) return policy
  let number = 2
  const name = () => `${policy.name.slice(0, 120)}-${number}`
  while (taken.has(name().toLowerCase())) number += 1
  return new WirePolicy({ ...policy.terms, name: name() })
}
