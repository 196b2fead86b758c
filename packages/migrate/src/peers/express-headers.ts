import { DIFFERENCES } from '../differences.ts'
import type { OptionsObject } from '../options-object.ts'

const NAMES = ['standardHeaders', 'legacyHeaders', 'headers']

/**
 * `standardHeaders` and `legacyHeaders` of express-rate-limit.
 *
 * @param sendsLegacy whether `X-RateLimit-*` are sent because no option says otherwise
 * @param isUnsaid whether no option says which fields are sent
 */
export function renameHeaders(
  options: OptionsObject,
  sendsLegacy: boolean,
  isUnsaid: boolean,
): void {
  const standard = options.text('standardHeaders') ?? 'false'
  const legacy = options.text('legacyHeaders') ?? options.text('headers') ?? String(sendsLegacy)
  const profile = standardProfile(standard)
  if ((profile === undefined && standard !== 'false') || !/^(true|false)$/.test(legacy)) {
    options.leave(
      "standardHeaders, legacyHeaders: headers takes their place: a profile ('draft-8', 'draft-7', 'draft-6', 'legacy'), an array of them, or false. Which one these mean is not seen here.",
    )
  }
  const profiles = [profile, legacy === 'true' ? "'legacy'" : undefined].filter(Boolean)
  const value = profiles.length > 1 ? `[${profiles.join(', ')}]` : (profiles[0] ?? 'false')
  const isSaid = isUnsaid || NAMES.some((name) => options.has(name))
  options.merge(NAMES, ['headers', value], isUnsaid)
  if (isSaid && value === 'false') options.note(DIFFERENCES.retryAfterAlone)
  if (isSaid && value.includes('draft-8')) options.note(DIFFERENCES.draft8)
}

/** The profile for `standardHeaders`; undefined if it is false, or not seen. */
export function standardProfile(text: string): string | undefined {
  if (text === 'true') return "'draft-6'"
  const [, draft] = /^['"](draft-[678])['"]$/.exec(text) ?? []
  return draft === undefined ? undefined : `'${draft}'`
}
