import { DIFFERENCES } from '../differences.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

const NAMES = ['standardHeaders', 'legacyHeaders', 'headers']

/**
 * `standardHeaders` and `legacyHeaders` of express-rate-limit.
 *
 * @param sendsLegacy whether `X-RateLimit-*` are sent because no option says otherwise
 * @param isUnsaid whether no option says which fields are sent
 */
export function renameHeaders(
  source: Source,
  options: OptionsObject,
  sendsLegacy: boolean,
  isUnsaid: boolean,
): void {
  const textOf = (name: string) => {
    const value = options.value(name)
    return value && source.original(value.node)
  }
  const standard = textOf('standardHeaders') ?? 'false'
  const legacy = textOf('legacyHeaders') ?? textOf('headers') ?? String(sendsLegacy)
  const profile = standardProfile(standard)
  if ((profile === undefined && standard !== 'false') || !/^(true|false)$/.test(legacy)) {
    source.leave(
      "standardHeaders, legacyHeaders: headers takes their place: a profile ('draft-8', 'draft-7', 'draft-6', 'legacy'), an array of them, or false. Which one these mean is not seen here.",
    )
  }
  const profiles = [profile, legacy === 'true' ? "'legacy'" : undefined].filter(Boolean)
  const value = profiles.length > 1 ? `[${profiles.join(', ')}]` : (profiles[0] ?? 'false')
  const isSaid = isUnsaid || NAMES.some((name) => options.has(name))
  options.merge(NAMES, ['headers', value], isUnsaid)
  if (isSaid && value === 'false') source.note(options.path, DIFFERENCES.retryAfterAlone)
  if (isSaid && value.includes('draft-8')) source.note(options.path, DIFFERENCES.draft8)
}

/** The profile for `standardHeaders`; undefined if it is false, or not seen. */
export function standardProfile(text: string): string | undefined {
  if (text === 'true') return "'draft-6'"
  const [, draft] = /^['"](draft-[678])['"]$/.exec(text) ?? []
  return draft === undefined ? undefined : `'${draft}'`
}
