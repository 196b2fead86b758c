import { expect, test } from '@jest/globals'
import { servePlain } from '../../testing/plain-server.ts'
import { joinStates } from './join-states.ts'
import { composeProfiles } from './profiles/index.ts'
import { WirePolicy, type WirePolicyTerms } from './wire-policy.ts'
import type { WireItem, WireState } from './wire-state.ts'

function item(terms: Partial<WirePolicyTerms>, remaining = 1): WireItem {
  const policy = new WirePolicy({ name: 'default', quota: 5, windowMs: 60_000, ...terms })
  return { policy, remaining, effectiveMs: 1000, resetMs: 1000 }
}

const state = (items: WireItem[], violated: WireItem[] = [], now = 0): WireState => ({
  items,
  violated,
  now,
})

const namesOf = (items: readonly WireItem[]) => items.map(({ policy }) => policy.name)

function fieldsOf(joined: WireState): Record<string, string> {
  const fields: Record<string, string> = {}
  composeProfiles(['draft-11']).write(joined, (name, value) => {
    fields[name] = value
  })
  return fields
}

test('three limiters whose names clash: the later ones are numbered', () => {
  const two = joinStates(state([item({})]), state([item({}), item({ name: 'day' })]))
  const three = joinStates(two, state([item({ name: 'DEFAULT' }), item({ name: 'Day' })]))
  expect(namesOf(three.items)).toEqual(['default', 'default-2', 'day', 'DEFAULT-3', 'Day-2'])
})

test('a number that is in use is not used again', () => {
  const earlier = state([item({ name: 'a' }), item({ name: 'A-2' })])
  expect(namesOf(joinStates(earlier, state([item({ name: 'a' })])).items)).toEqual([
    'a',
    'A-2',
    'a-3',
  ])
})

test('the longest names remain valid names', () => {
  const name = 'n'.repeat(128)
  const joined = joinStates(state([item({ name })]), state([item({ name })]))
  expect(namesOf(joined.items)).toEqual([name, `${'n'.repeat(120)}-2`])
})

test('of two refusals, the later one is reported, under its new name', () => {
  const refused = item({}, 0)
  const joined = joinStates(state([item({})]), state([refused], [refused], 7))
  expect(namesOf(joined.violated)).toEqual(['default-2'])
  expect(joined.items).toContain(joined.violated[0])
  expect(joined.now).toBe(7)
  expect(fieldsOf(joined).RateLimit).toBe('"default-2";r=0;t=1')
})

test('a policy keeps its other values under its new name', () => {
  const terms: Partial<WirePolicyTerms> = {
    quota: 20,
    unit: 'content-bytes',
    partitionKey: Buffer.from('user:42'),
  }
  expect(fieldsOf(joinStates(state([item({})]), state([item(terms)])))).toEqual({
    'RateLimit-Policy':
      '"default";q=5;w=60, "default-2";q=20;qu="content-bytes";w=60;pk=:dXNlcjo0Mg==:',
    RateLimit: '"default";r=1;t=1, "default-2";r=1;t=1;pk=:dXNlcjo0Mg==:',
  })
})

test('three limiters on one response: each field once, the body names the policy as they do', async () => {
  const terms = { window: '1m', algorithm: 'fixed-window', headers: 'draft-11' } as const
  const server = await servePlain(
    [
      { ...terms, limit: 9 },
      { ...terms, limit: 8 },
      { ...terms, limit: 1 },
    ],
    (_, response) => response.end(),
  )
  const served = await server.send()
  expect(served.headers['ratelimit-policy']).toBe(
    '"default";q=9;w=60, "default-2";q=8;w=60, "default-3";q=1;w=60',
  )
  const refused = await server.send()
  await server.stop()
  expect(refused.status).toBe(429)
  expect(refused.headers['ratelimit-policy']).toBe(served.headers['ratelimit-policy'])
  expect(refused.headers.ratelimit).toMatch(/^"default-3";r=0;t=\d+$/)
  expect(JSON.parse(refused.body)['violated-policies']).toEqual(['default-3'])
})
