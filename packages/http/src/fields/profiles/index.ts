import { SluiceError } from '@sluice/core'
import { draft3, draft6, draft7 } from './draft-3-to-7.ts'
import { draft11 } from './draft-11.ts'
import { draftNext } from './draft-next.ts'
import { legacy, legacyDelta } from './legacy.ts'
import { anthropic, openai } from './model-apis.ts'
import { createProfile, type FieldGroup, type Profile } from './profile.ts'

export type { Profile, SetField } from './profile.ts'

/**
 * The registry of profiles, by name, newest first. A profile is written beside its relatives and has a line below. The
 * syntax of draft-8 to draft-11 is one and the same, that of `draft-next` may change in any release. `dry-run` writes
 * nothing: with it, the others also list the policies of dry runs.
 */
const PROFILES = {
  'draft-next': draftNext,
  'draft-11': draft11,
  'draft-10': draft11,
  'draft-9': draft11,
  'draft-8': draft11,
  'draft-7': draft7,
  'draft-6': draft6,
  'draft-3': draft3,
  legacy,
  'legacy-delta': legacyDelta,
  openai,
  anthropic,
  'dry-run': createProfile('dry-run', []),
}

/** A version of the rate-limit fields. */
export type HeaderProfile = keyof typeof PROFILES

/** Profiles that fill the same field in different ways: one would overwrite the other. */
const RIVALS = [
  [draft7, draft11],
  [draft7, draftNext],
  [draft11, draftNext],
  [legacy, legacyDelta],
] as const

/** All names, newest first. */
export const HEADER_PROFILES = Object.keys(PROFILES) as readonly HeaderProfile[]

/** Each field that some profile writes. */
export const PROFILE_FIELDS: readonly string[] = [
  ...new Set(Object.values(PROFILES).flatMap((profile) => profile.fields)),
]

/**
 * One profile that writes the fields of all that are named, in any order. A field that two
 * share is written once, by the newer: `draft-11` with `draft-6` writes `RateLimit-Policy` and
 * `RateLimit` in the form of draft-11, and `RateLimit-Limit`, `-Remaining` and `-Reset`. No name:
 * a profile that writes nothing.
 *
 * @throws {SluiceError} for an unknown name, and for two that write one field in different forms:
 * draft-7 with draft-8 or newer, draft-next with either, legacy with legacy-delta
 */
export function composeProfiles(names: readonly HeaderProfile[]) {
  const unknown = names.find((name) => !HEADER_PROFILES.includes(name))
  if (unknown !== undefined) {
    throw wrong(
      `one or more of ${HEADER_PROFILES.join(', ')}`,
      unknown,
      "Name a profile, for example headers: 'draft-11', or false for none.",
    )
  }
  const named = HEADER_PROFILES.filter((name) => names.includes(name))
  const profiles = new Set<Profile>(named.map((name) => PROFILES[name]))
  for (const [one, other] of RIVALS) {
    if (!profiles.has(one) || !profiles.has(other)) continue
    const shared = one.usageFields.find((field) => other.usageFields.includes(field))
    throw wrong(
      `${one.name} or ${other.name}, not both: each has its own form of ${shared}`,
      names,
      "Leave one out; ['draft-11', 'draft-6'] serves new and old clients together.",
    )
  }
  const groups: FieldGroup[] = []
  const taken = new Set<string>()
  for (const group of [...profiles].flatMap((profile) => profile.groups)) {
    if (group.fields.some((field) => taken.has(field))) continue
    groups.push(group)
    for (const field of group.fields) taken.add(field)
  }
  const all = [...profiles]
  const composed = createProfile(
    all.map((profile) => profile.name).join(', '),
    groups,
    [...new Set(all.flatMap((profile) => profile.waitFields))],
    all.find((profile) => profile.errorOf)?.errorOf,
  )
  return { ...composed, showsDryRuns: names.includes('dry-run') }
}

/**
 * The names to put in Access-Control-Expose-Headers, so that a script of another origin can read
 * them: the fields of the profiles, and Retry-After with what they send in addition.
 */
export function exposedHeaders(names: HeaderProfile | readonly HeaderProfile[]): string[] {
  const { fields, waitFields } = composeProfiles([names].flat() as readonly HeaderProfile[])
  return [...fields, 'Retry-After', ...waitFields.map(({ name }) => name)]
}

function wrong(expected: string, received: unknown, fix: string): SluiceError {
  return new SluiceError({ code: 'SLUICE_HEADERS', option: 'headers', expected, received, fix })
}
