// docs/events.md lists every field of every event.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type {
  BanEvent,
  ConsumeTrace,
  DecisionEvent,
  LimiterEvent,
  PolicyEvent,
  SettledPolicyEvent,
  SettleEvent,
  StoreEvent,
  WaitTrace,
} from '@sluice/core'

const page = readFileSync(join(__dirname, '../../../../docs/events.md'), 'utf8')

/** The fields of the tables of a section, in their order. */
function documented(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return own
    .split('| field | value |')
    .slice(1)
    .map((table) => [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field as string))
}

/** The compiler refuses a field too many or too few. */
type Fields<T> = Record<Exclude<keyof T, keyof LimiterEvent>, true>

const about: Record<keyof LimiterEvent, true> = { limiter: true, route: true }
const decision: Fields<DecisionEvent> = {
  result: true,
  allowed: true,
  source: true,
  policy: true,
  policies: true,
  limit: true,
  remaining: true,
  resetMs: true,
  retryAfterMs: true,
  delayMs: true,
  durationMs: true,
  banned: true,
  keyHash: true,
}
const policy: Fields<PolicyEvent> = {
  name: true,
  unit: true,
  allowed: true,
  limit: true,
  remaining: true,
  charged: true,
  source: true,
}
const settle: Fields<SettleEvent> = { reason: true, policies: true, errorType: true }
const settled: Fields<SettledPolicyEvent> = { name: true, unit: true, units: true }
const store: Fields<StoreEvent> = { store: true, state: true, reason: true, errorType: true }
const ban: Fields<BanEvent> = { endsMs: true, dryRun: true, keyHash: true }
const consume: Fields<ConsumeTrace> = { policies: true, result: true }
const wait: Fields<WaitTrace> = { policy: true, delayMs: true, result: true }

test.each<[string, object[]]>([
  ['The limiter and the route', [about]],
  ['`sluice:decision`', [decision, policy]],
  ['`sluice:settle`', [settle]],
  ['`sluice:store`', [store]],
  ['`sluice:ban`', [ban]],
  ['`tracing:sluice:consume`', [consume]],
  ['`tracing:sluice:wait`', [wait]],
])('%s', (heading, fields) => {
  expect(documented(heading)).toEqual(fields.map((each) => Object.keys(each)))
})

test('the policies of a settlement', () => {
  const [row] = page.match(/^\| `policies` \| the corrected charges.*$/m) ?? ['']
  for (const field of Object.keys(settled)) expect(row).toContain(`\`${field}\``)
})
