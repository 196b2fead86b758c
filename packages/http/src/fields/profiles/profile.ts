import type { PolicyDecision } from '@sluice/core'
import { type FieldState, remainingUnits, reportedPolicy } from '../field-state.ts'
import { MAX_INTEGER, type PolicyText } from '../policy-texts.ts'

/** Sets one header field of the response, and replaces its value. */
export type SetField = (name: string, value: string) => void

/** Fields that are written together, each once. Two groups have all their fields in common, or none. */
export interface FieldGroup {
  readonly fields: readonly string[]
  /** True: they say how much remains. False: they name the policies, the same on every response. */
  readonly usage: boolean
  /** Never throws, whatever the numbers in the state. */
  write(state: FieldState, set: SetField): void
}

/** A version of the rate-limit fields: state in, text out. */
export type Profile = ReturnType<typeof createProfile>

/**
 * @param groups what writes the fields, in this order
 * @param waitFields what a refusal has in addition to Retry-After; a text that is undefined is left out
 * @param errorOf the member `error` of a refusal's body
 */
export function createProfile(
  name: string,
  groups: readonly FieldGroup[],
  waitFields: readonly { name: string; text(waitMs: number): string | undefined }[] = [],
  errorOf?: (title: string, unit: string | undefined, waitMs: number | undefined) => object,
) {
  return {
    name,
    waitFields,
    errorOf,
    /** The names that it may write. */
    fields: groups.flatMap(({ fields }) => fields),
    /** The fields that say how much remains. */
    usageFields: groups.filter(({ usage }) => usage).flatMap(({ fields }) => fields),
    groups,
  }
}

/**
 * Three fields of one policy: its limit, what remains of it, and when to come back.
 *
 * @param resetText the last of them; `refused`: the policy refused
 * @param options what the policy counts, if not requests, and how its limit is written
 */
export function limitRemainingReset(
  [limit, remaining, reset]: readonly [limit: string, remaining: string, reset: string],
  resetText: (policy: PolicyDecision, refused: boolean) => string | number,
  {
    policyOf = reportedPolicy,
    limitText,
  }: {
    policyOf?: (state: FieldState) => PolicyDecision | undefined
    limitText?: (limit: number, texts: readonly PolicyText[]) => string
  } = {},
): FieldGroup {
  return {
    fields: [limit, remaining, reset],
    usage: true,
    write(state, set) {
      const policy = policyOf(state)
      if (policy === undefined) return
      const refused = state.violated.some((i) => state.policies[i] === policy)
      const shown = Math.min(policy.limit, MAX_INTEGER)
      set(limit, limitText?.(shown, state.texts) ?? String(shown))
      set(remaining, String(remainingUnits(policy)))
      set(reset, String(resetText(policy, refused)))
    },
  }
}
