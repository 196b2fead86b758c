import { duration, number, percent } from '@sluice/terminal/words'
import type { EntryRecord } from './entry-record.ts'

/** `day: 100 per 1 d`, `requests in progress: 5`, `ban after 3 refusals in 1 h` */
export function policyText({ policy, algorithm, limit, windowMs, dryRun }: EntryRecord): string {
  const units = limit === undefined ? 'a limit by request' : number(limit)
  if (algorithm === 'ban') {
    const tried = dryRun ? ', in a dry run' : ''
    return `ban (${policy}): after ${units} refusals in ${duration(windowMs)}${tried}`
  }
  if (algorithm === 'concurrency') return `${policy}: ${units} at a time`
  return `${policy}: ${units} per ${duration(windowMs)}`
}

/** `blocked for 59 min`, `97 used, 3 left (97 %), whole in 42 s` */
export function standingText(record: EntryRecord): string {
  const { standing, blockedMs, bannedMs, used, remaining, resetMs, share } = record
  if (standing === 'blocked') return `blocked for ${duration(blockedMs)}`
  if (standing === 'banned') return `banned for ${duration(bannedMs)}`
  if (standing === 'whole') return 'nothing used'
  if (used === undefined) return 'in use; how much depends on the limit of the request'
  const left = remaining === undefined ? '' : `, ${number(remaining)} left`
  const part = share === undefined ? '' : ` (${percent(share)})`
  const whole = resetMs === undefined ? '' : `, whole in ${duration(resetMs)}`
  return `${number(used)} used${left}${part}${whole}`
}

/** The key of an entry for people: a digest is shown as what it is. */
export function keyText({ key, isDigest }: EntryRecord): string {
  return isDigest ? `${key.slice(0, 12)}… (digest)` : key
}
