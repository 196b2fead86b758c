import { hash } from '#platform'
import { type CompiledLimit, MAX_LIMIT } from '../algorithms/algorithm.ts'
import { conflict } from '../errors/conflict.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { checkInteger, checkObject, checkOneOf, typeError } from '../options/checks.ts'
import { checkKnown } from '../options/known.ts'
import { MAX_GRANTS } from '../stores/rules/own-terms.ts'
import type { GrantChange, GrantResult, OverrideChange } from '../stores/store.ts'
import type { GrantOptions, OverrideOptions } from './limiter.ts'
import type { Policy } from './policy.ts'

/** The last moment that a Date can have, ms since the epoch. */
const LAST_MS = 8.64e15
/** Hexadecimal digits that are kept of the digest of an id. */
const ID_DIGITS = 24

/** The part of a limiter that is needed here. */
interface Subject {
  readonly policies: readonly Policy[]
  /** ms since the epoch. */
  readonly now: number
}

/** Gives a client an own limit, or ends it: see `Limiter.override`. */
export function overridesOf(
  { policies, now }: Subject,
  key: string,
  override: OverrideOptions | null,
): OverrideChange[] {
  if (override === null) {
    return policies.map((each, policy) => endOf(policy, key, each.anyLimit()))
  }
  checkKnown('', checkObject('override', override, 'an object such as { limit: 1000 }, or null'), [
    'policy',
    'limit',
    'until',
    'window',
  ])
  const place = placeOf(policies, override.policy)
  const policy = policies[place] as Policy
  const limit = policy.someLimit(override.window)
  if (override.limit === null) return [endOf(place, key, limit)]
  const until = untilOf(override.until, now) ?? Infinity
  const own = { ...policy.ownParams(override.limit), until }
  return [{ kind: 'override', policy: place, key, limit, override: own }]
}

/** Adds units to a client's limit: see `Limiter.grant`. */
export function grantOf(
  { policies, now }: Subject,
  key: string,
  units: number,
  options: GrantOptions = {},
): GrantChange {
  checkInteger('units', units, 1, MAX_LIMIT)
  const given = checkObject('options', options, 'the options of a top-up')
  checkKnown('', given, ['policy', 'until', 'id', 'window', 'anchor'])
  const place = placeOf(policies, options.policy)
  const policy = policies[place] as Policy
  const limit = policy.someLimit(options.window, options.anchor)
  if (limit.grantEnd === undefined) throw withoutWindow(limit)
  const grant = { units, until: untilOf(options.until, now), id: idOf(options.id) }
  return { kind: 'grant', policy: place, key, limit, grant }
}

/**
 * Whether a top-up has been added, by the store's result.
 * @throws SluiceError if the key can't have it
 */
export function isGranted(
  result: GrantResult,
  { limit, grant }: GrantChange,
  options: GrantOptions | undefined,
): boolean {
  if (result === 'too many' || result === 'too much') throw refused(result, limit, grant.units)
  // The store's clock is ahead of that of this process.
  if (result === 'ended') throw noMoment(options?.until, true)
  return result === 'granted'
}

function endOf(policy: number, key: string, limit: CompiledLimit): OverrideChange {
  return { kind: 'override', policy, key, limit, override: undefined }
}

function placeOf(policies: readonly Policy[], name: string | undefined): number {
  const names = policies.map((policy) => policy.name)
  if (name === undefined && names.length === 1) return 0
  return names.indexOf(checkOneOf('policy', name as string, names))
}

function untilOf(until: unknown, now: number): number | undefined {
  if (until === undefined) return undefined
  const ms = until instanceof Date ? until.getTime() : until
  if (typeof ms === 'number' && Number.isInteger(ms) && ms > now && ms <= LAST_MS) return ms
  throw noMoment(until, typeof ms === 'number')
}

function noMoment(until: unknown, isRange: boolean): SluiceError {
  return new SluiceError({
    code: isRange ? 'SLUICE_OPTION_RANGE' : 'SLUICE_OPTION_TYPE',
    option: 'until',
    expected: 'a Date, or integer ms since the epoch, after now',
    received: until,
    fix: 'Give until as a moment: new Date(Date.now() + 86_400_000) is in a day.',
  })
}

/** An id of any length takes the same room. */
function idOf(id: unknown): string {
  if (id === undefined) return ''
  if (typeof id === 'string' && id !== '')
    return hash('sha256', id, 'utf16le', 'hex').slice(0, ID_DIGITS)
  throw typeError(
    'id',
    id,
    'text of at least one character',
    'Give the id of what was paid, such as that of the invoice, or leave id out.',
  )
}

function withoutWindow({ algorithm }: CompiledLimit): SluiceError {
  return conflict(
    'grant()',
    'a policy that counts in windows',
    algorithm.name,
    "Raise the client's limit by override() instead, or choose algorithm: 'sliding-window'.",
  )
}

function refused(result: GrantResult, { algorithm }: CompiledLimit, units: number): SluiceError {
  const { maxLimit } = algorithm
  return result === 'too many'
    ? new SluiceError({
        code: 'SLUICE_OPTION_RANGE',
        option: 'grant()',
        expected: `at most ${MAX_GRANTS} top-ups of a key that have not ended`,
        received: MAX_GRANTS + 1,
        fix: 'Raise the limit by override(), or make top-ups that end together without an id, which count as one.',
      })
    : new SluiceError({
        code: 'SLUICE_OPTION_RANGE',
        option: 'units',
        expected: `so many that the client's limit stays up to ${maxLimit}`,
        received: units,
        fix: 'Add fewer units.',
      })
}
