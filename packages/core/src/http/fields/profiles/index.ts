import { SluiceError } from '../../../errors/sluice-error.ts'
import { draft3 } from './draft-3.ts'
import { draft6 } from './draft-6.ts'
import { draft7 } from './draft-7.ts'
import { draft11 } from './draft-11.ts'
import { legacy } from './legacy.ts'
import type { FieldGroup, Profile } from './profile.ts'
import { createProfile } from './profile.ts'

export type { Profile, SetField } from './profile.ts'

/**
 * The registry of profiles, by name, newest first. A profile is a file here and a line below. The
 * syntax of draft-8 to draft-11 is one and the same.
 */
const PROFILES = {
  'draft-11': draft11,
  'draft-10': draft11,
  'draft-9': draft11,
  'draft-8': draft11,
  'draft-7': draft7,
  'draft-6': draft6,
  'draft-3': draft3,
  legacy,
} as const satisfies { readonly [name: string]: Profile }

/** A version of the rate-limit fields. */
export type HeaderProfile = keyof typeof PROFILES

/** All names, newest first. */
export const HEADER_PROFILES = Object.keys(PROFILES) as readonly HeaderProfile[]

/** Each field that some profile writes. */
export const PROFILE_FIELDS: readonly string[] = [
  ...new Set(Object.values(PROFILES).flatMap((profile) => profile.fields)),
]

/**
 * One profile that writes the fields of all that are named, in whatever order. A field that two
 * share is written once, by the newer: `draft-11` with `draft-6` writes `RateLimit-Policy` and
 * `RateLimit` in the words of draft-11, and `RateLimit-Limit`, `-Remaining` and `-Reset`. No name:
 * a profile that writes nothing.
 *
 * @throws {SluiceError} for an unknown name, and for draft-7 beside draft-8 or newer: both write
 * `RateLimit`, as different types, so leaving one out would leave nothing of it.
 */
export function composeProfiles(names: readonly HeaderProfile[]): Profile {
  for (const name of names) if (!HEADER_PROFILES.includes(name)) throw unknownProfile(name)
  const named = HEADER_PROFILES.filter((name) => names.includes(name))
  const profiles = new Set<Profile>(named.map((name) => PROFILES[name]))
  if (profiles.has(draft11) && profiles.has(draft7)) throw conflict(names)
  const groups: FieldGroup[] = []
  const taken = new Set<string>()
  for (const group of [...profiles].flatMap((profile) => profile.groups)) {
    if (group.fields.some((field) => taken.has(field))) continue
    groups.push(group)
    for (const field of group.fields) taken.add(field)
  }
  return createProfile([...profiles].map((profile) => profile.name).join(', '), groups)
}

/**
 * The names to put in Access-Control-Expose-Headers, so that a script of another origin can read
 * them: the fields of the profiles, and Retry-After.
 */
export function exposedHeaders(names: HeaderProfile | readonly HeaderProfile[]): string[] {
  return [...composeProfiles([names].flat()).fields, 'Retry-After']
}

function unknownProfile(received: unknown): SluiceError {
  return new SluiceError({
    code: 'SLUICE_HEADERS',
    option: 'headers',
    expected: `one or more of ${HEADER_PROFILES.join(', ')}`,
    received,
    fix: "Name a profile, for example headers: 'draft-11', or false for none.",
  })
}

function conflict(received: unknown): SluiceError {
  return new SluiceError({
    code: 'SLUICE_HEADERS',
    option: 'headers',
    expected: 'draft-7 or draft-11 (8, 9, 10), not both: each has its own form of RateLimit',
    received,
    fix: "Leave one out; ['draft-11', 'draft-6'] serves new and old clients together.",
  })
}
