import { count, duration, listed, moment, number, percent } from '@sluice/terminal/words'
import Table from 'cli-table3'
import type pico from 'picocolors'
import type { PolicySummary } from '../replay/runs/policy-summary.ts'
import type { Report, Run } from './report.ts'

type Colors = ReturnType<typeof pico.createColors>

/** A table without frames, so that it can be pasted anywhere. */
const FRAMELESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/** The report as text, for people. */
export function toText(report: Report, colors: Colors): string {
  return [
    summary(report),
    ...(report.runs.length > 0 ? [runsTable(report, colors)] : []),
    ...(report.suggestion === undefined ? [] : [suggestionTable(report, colors)]),
    findings(report, colors),
    unreadable(report),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function summary({ source, requests, clients }: Report): string {
  const { lines, unreadable, early, late, fromMs, toMs, interrupted } = source
  const left = [
    ...(unreadable > 0 ? [`${number(unreadable)} unreadable`] : []),
    ...(early > 0 ? [`${number(early)} early`] : []),
    ...(late > 0 ? [`${number(late)} late`] : []),
  ]
  const aside = left.length > 0 ? ` (${left.join(', ')})` : ''
  const stopped = interrupted ? 'Stopped before the end: what was played until then.\n' : ''
  return (
    `${stopped}${count(lines, 'line')}${aside}: ${count(requests, 'request')} of ` +
    `${count(clients, 'client')} in ${duration(toMs - fromMs)}\n` +
    `from ${moment(fromMs)} to ${moment(toMs)}`
  )
}

function runsTable({ runs, clients }: Report, colors: Colors): string {
  const several = runs.some(({ policies }) => policies.length > 1)
  const banned = runs.some(({ bans }) => bans > 0)
  const rows = [
    [
      several ? 'policy' : 'algorithm',
      'admitted',
      'refused',
      'clients refused',
      ...(banned ? ['bans'] : []),
      runs.some(countsAtOnce) ? 'most in a window, or at once' : 'most in a window',
      'longest refused',
      'peak keys',
    ],
  ]
  for (const run of runs) {
    if (several) rows.push(...policyRows(run, banned))
    const together = runs.length > 1 ? `${run.name}: all together` : 'all together'
    rows.push([
      several ? together : run.name,
      number(run.admitted),
      withShare(run.refused, run.requests),
      withShare(run.clientsRefused, clients),
      ...(banned ? [bansOf(run)] : []),
      several ? '' : most(run, 0),
      run.refused === 0 ? '-' : duration(run.longestRefusedMs),
      number(run.peakKeys),
    ])
  }
  const texts = runs.map(({ policies }) => policyText(policies[0] as PolicySummary))
  const names = listed(runs.map(({ name }) => name))
  const title = several ? `Through ${names}:` : [...new Set(texts)].join('; ')
  return `${title}\n\n${tableOf(rows, colors)}`
}

/** A row for each policy. Only the most that it admitted is counted by policy. */
function policyRows(run: Run, banned: boolean): string[][] {
  return run.policies.map((policy, i) => [
    `${policy.name}: ${policyText(policy)}`,
    '',
    '',
    '',
    ...(banned ? [''] : []),
    most(run, i),
    '',
    '',
  ])
}

function bansOf({ bans, clientsBanned }: Run): string {
  return bans === 0 ? '0' : `${number(bans)} of ${count(clientsBanned, 'client')}`
}

function most(run: Run, policy: number): string {
  const { units } = run.most[policy] as Run['most'][number]
  const { limit } = run.policies[policy] as PolicySummary
  return limit ? `${number(units)} (${percent(units / limit)})` : number(units)
}

function withShare(part: number, whole: number): string {
  return part === 0 ? '0' : `${number(part)} (${percent(part / whole)})`
}

function countsAtOnce({ policies }: Run): boolean {
  return policies.some(({ algorithm }) => algorithm === 'concurrency')
}

function policyText({ algorithm, limit, windowMs, enforced = 1 }: PolicySummary): string {
  const units = limit === undefined ? 'a limit by request' : number(limit)
  const whom = enforced === 0 ? ', a dry run' : `, for ${percent(enforced)} of the clients`
  const tried = enforced === 1 ? '' : whom
  if (algorithm === 'concurrency') return `${units} at the same time${tried}`
  const per = windowMs === undefined ? 'a window by request' : duration(windowMs)
  return `${units} per ${per}${tried}`
}

function suggestionTable({ suggestion }: Report, colors: Colors): string {
  if (suggestion === undefined) return ''
  const rows = suggestion.rows.map(({ share, limit, burst }) => [
    percent(share),
    number(limit),
    number(burst),
  ])
  const table = tableOf(
    [['clients never refused', 'limit', 'token bucket: burst'], ...rows],
    colors,
  )
  return `Limits per ${duration(suggestion.windowMs)} by what clients ask for:\n\n${table}`
}

function findings({ findings }: Report, colors: Colors): string {
  if (findings.length === 0) return ''
  return [colors.bold('What stands out'), ...findings.map((each) => `- ${each}`)].join('\n')
}

function unreadable({ source: { unreadable, unreadableLines, masked } }: Report): string {
  if (unreadable === 0) return ''
  const lines = unreadableLines.map(
    ({ name, line, text, reason }) => `  ${name}:${line}: ${reason}: ${text}`,
  )
  const more = unreadable - lines.length
  if (more > 0) lines.push(`  and ${number(more)} more`)
  const aside = masked ? ' (x for letters, 0 for digits; --show-clients shows them)' : ''
  return [`Unreadable${aside}:`, ...lines].join('\n')
}

function tableOf([head = [], ...rows]: readonly (readonly string[])[], colors: Colors): string {
  const table = new Table({
    head: head.map((title) => colors.bold(title)),
    chars: FRAMELESS,
    colAligns: head.map((_, i) => (i === 0 ? 'left' : 'right')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => [...row]))
  return table.toString()
}
