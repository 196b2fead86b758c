import type { FieldState } from '../field-state.ts'

/** Sets one header field of the response, replacing what was there. */
export type SetField = (name: string, value: string) => void

/** Fields that are written together, each once. Two groups have all their fields in common, or none. */
export interface FieldGroup {
  readonly fields: readonly string[]
  /** True: they say how much is left. False: they name the policies, the same on every response. */
  readonly usage: boolean
  /** Never throws, whatever the numbers in the state. */
  write(state: FieldState, set: SetField): void
}

/** A field that says something of a refusal's wait. */
export interface WaitField {
  readonly name: string
  /** @returns undefined: it is left out for this wait, in ms */
  text(waitMs: number): string | undefined
}

/** A version of the rate-limit fields: state in, text out. */
export interface Profile {
  readonly name: string
  /** The names that it may write. */
  readonly fields: readonly string[]
  /** The fields that say how much remains. */
  readonly usageFields: readonly string[]
  /** What a refusal has in addition to Retry-After. */
  readonly waitFields: readonly WaitField[]
  /** What writes its fields, in this order. */
  readonly groups: readonly FieldGroup[]
}

export function createProfile(
  name: string,
  groups: readonly FieldGroup[],
  waitFields: readonly WaitField[] = [],
): Profile {
  return {
    name,
    waitFields,
    fields: groups.flatMap(({ fields }) => fields),
    usageFields: groups.filter(({ usage }) => usage).flatMap(({ fields }) => fields),
    groups,
  }
}
