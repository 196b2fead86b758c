import { DIFFERENCES } from '../differences.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

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
  const standard = options.value('standardHeaders')
  const legacy = options.value('legacyHeaders') ?? options.value('headers')
  const profiles = [standardProfile(source.original(standard?.node ?? { start: 0, end: 0 }))]
  const legacyText = legacy && source.original(legacy.node)
  if (legacyText === 'true' || (legacyText === undefined && sendsLegacy)) profiles.push("'legacy'")
  const known = profiles.filter((each) => each !== undefined)
  const isStatic =
    (standard === undefined || profiles[0] !== undefined || standard.isBooleanLiteral()) &&
    (legacy === undefined || legacy.isBooleanLiteral())
  if (!isStatic) {
    source.leave(
      "standardHeaders, legacyHeaders: headers takes their place: a profile ('draft-8', 'draft-7', 'draft-6', 'legacy'), an array of them, or false. Which one these mean is not seen here.",
    )
  }
  const value = headersOf(known)
  const first = ['standardHeaders', 'legacyHeaders', 'headers'].find((name) => options.has(name))
  options.remove('standardHeaders', 'legacyHeaders', 'headers')
  if (first === undefined && !isUnsaid) return
  if (value === 'false') source.note(options.path, DIFFERENCES.retryAfterAlone)
  if (value.includes('draft-8')) source.note(options.path, DIFFERENCES.draft8)
  if (first !== undefined) options.replace(first, ['headers', value])
  else options.add(['headers', value])
}

function headersOf(profiles: readonly string[]): string {
  if (profiles.length === 0) return 'false'
  return profiles.length === 1 ? (profiles[0] as string) : `[${profiles.join(', ')}]`
}

function standardProfile(text: string): string | undefined {
  if (text === 'true') return "'draft-6'"
  const [, draft] = /^['"](draft-[678])['"]$/.exec(text) ?? []
  return draft === undefined ? undefined : `'${draft}'`
}
