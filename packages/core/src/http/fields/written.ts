import type { FieldState } from './field-state.ts'
import { type ReportedPolicy, renamed } from './policy-texts.ts'

/**
 * The place on a request for what its limiters have written into the fields. Copies of this package in
 * one process (ESM and CommonJS) share it, so the number in the name changes with the shape of
 * {@link FieldState}.
 */
const WRITTEN = Symbol.for('sluice.written.3')

type Marked = { [WRITTEN]?: FieldState }

/**
 * What the fields of a response must say after one more limiter has decided: each field is written
 * once, and lists the policies of all limiters that the request has passed. Of two policies with the
 * same name the later one is numbered, since names link the fields.
 *
 * @param identity the object that identifies the request in every middleware
 * @param state what the limiter says by itself
 */
export function joinWritten(identity: object, state: FieldState): FieldState {
  const marked: Marked = identity
  const earlier = marked[WRITTEN]
  const joined = earlier === undefined ? state : join(earlier, state)
  marked[WRITTEN] = joined
  return joined
}

function join(earlier: FieldState, later: FieldState): FieldState {
  const taken = new Set(earlier.policies.map(({ name }) => name.toLowerCase()))
  const policies = later.policies.map((policy) => {
    const name = freeName(policy.name, taken)
    taken.add(name.toLowerCase())
    return name === policy.name ? policy : { ...policy, name }
  })
  const texts = later.texts.map((text, i) => {
    const policy = policies[i] as ReportedPolicy
    return policy === later.policies[i] ? text : renamed(policy, text)
  })
  return {
    policies: [...earlier.policies, ...policies],
    texts: [...earlier.texts, ...texts],
    violated: later.violated.map((i) => earlier.policies.length + i),
    now: later.now,
  }
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted.toLowerCase())) return wanted
  let number = 2
  const name = () => `${wanted.slice(0, 120)}-${number}`
  while (taken.has(name().toLowerCase())) number += 1
  return name()
}
