import { expect, it } from '@jest/globals'
import { findingsOf } from './findings.ts'

it('names the policy of several that lets clients through with more than its limit', () => {
  const policies = [
    { name: 'minute', windowMs: 60_000 },
    { name: 'day', windowMs: 86_400_000 },
  ]
  const most = [0, 3].map((clients) => ({ over: [{ share: 1.5, clients }] }))
  const run = { name: 'limits', policies, most, refused: 1, bans: 0, longestRefusedMs: 0 }
  const source = { lines: 10, unreadable: 0, early: 0, late: 0, wholeSeconds: false }
  const report = { source, requests: 10, clients: 10, runs: [run] }
  const replay = { largestClient: () => -1 }
  expect(findingsOf(report as never, replay as never, String)).toEqual([
    'limits (day) let 3 clients through with more than 150 % of the limit',
  ])
})

it('names lines that were left out, or played at another time, where they are more than one in a hundred', () => {
  const findings = (count: number) => {
    const source = { lines: 1000, unreadable: count, early: count, late: count }
    const report = { source, requests: 1000, clients: 10, runs: [] }
    return findingsOf(report as never, { largestClient: () => -1 } as never, String)
  }
  expect(findings(10)).toEqual([])
  expect(findings(11)).toEqual([
    expect.stringContaining('could not be read'),
    expect.stringContaining('ahead of those around them'),
    expect.stringContaining('came more than a minute late'),
  ])
})
