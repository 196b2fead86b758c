import type { BlockedNetwork } from '@sluice/core/operator'
import { duration, moment, number, percent } from '@sluice/terminal/words'
import type { EntryRecord } from './entry-record.ts'
import type { RankedRecord } from './ranking.ts'

/** `day: 100 per 1 d`, `requests in progress: 5`, `ban after 3 refusals in 1 h` */
export function policyText(record: EntryRecord): string {
  const { policy, algorithm, limit, windowMs, dryRun, override, granted } = record
  const units = limit === undefined ? 'a limit by request' : number(limit)
  if (algorithm === 'ban') {
    const tried = dryRun ? ', in a dry run' : ''
    return `ban (${policy}): after ${units} refusals in ${duration(windowMs)}${tried}`
  }
  const ownText = ownLimitText(override, granted)
  if (algorithm === 'concurrency') return `${policy}: ${units} at a time${ownText}`
  return `${policy}: ${units} per ${duration(windowMs)}${ownText}`
}

/** ` (own limit until 2026-12-01 12:00 UTC, 500 of it topped up)` */
function ownLimitText(override: EntryRecord['override'], granted: number): string {
  const parts = []
  if (override !== undefined) {
    const { until } = override
    parts.push(until === undefined ? 'own limit' : `own limit until ${moment(until)}`)
  }
  if (granted > 0) parts.push(`${number(granted)} topped up`)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

/** `blocked for 59 min, until 2026-11-24 12:44:10 UTC`, `97 used, 3 left (97 %), unused in 42 s` */
export function standingText(record: EntryRecord): string {
  const { standing, blockedMs, bannedMs, used, remaining, resetMs, share } = record
  if (standing === 'blocked') return `blocked ${untilText(record, blockedMs)}`
  if (standing === 'banned') return `banned ${untilText(record, bannedMs)}`
  if (standing === 'unused') return 'unused'
  if (used === undefined) return 'in use; how much depends on the limit of the request'
  const left = remaining === undefined ? '' : `, ${number(remaining)} left`
  const part = share === undefined ? '' : ` (${percent(share)})`
  const unused = resetMs === undefined ? '' : `, unused in ${duration(resetMs)}`
  return `${number(used)} used${left}${part}${unused}`
}

/** `blocked for 59 min, until 2026-11-24 12:44:10 UTC` */
export function blockText({ endsMs, until }: Pick<BlockedNetwork, 'endsMs' | 'until'>): string {
  return `blocked for ${duration(endsMs)}, until ${moment(until)}`
}

/** The standing of an entry, behind what refuses its client in spite of it: `banned until …; 5 used, 0 left` */
export function rankedText(record: RankedRecord): string {
  const { shut } = record
  const first = shut === undefined ? '' : `${SHUT_BY[shut.by]} until ${moment(shut.until)}; `
  return first + standingText(record)
}

const SHUT_BY = { block: 'blocked', ban: 'banned', network: 'its network is blocked' } as const

function untilText({ at }: EntryRecord, ms: number): string {
  return `for ${duration(ms)}, until ${moment(at + ms)}`
}

/** The key of an entry for people: a digest is shown as what it is. */
export function keyText({ key, isDigest }: EntryRecord): string {
  return isDigest ? `${key.slice(0, 12)}… (digest)` : key
}
