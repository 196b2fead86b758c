import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, jest, test } from '@jest/globals'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import { plain, servePlain } from '../testing/plain-server.ts'
import { type FieldState, joinWritten } from './field-state.ts'
import { composeProfiles, type HeaderProfile } from './profiles/index.ts'
import {
  type Item,
  type ItemTerms,
  item as itemOf,
  fieldState as state,
  writeFields,
} from './testing/field-states.ts'

function item(terms: Partial<ItemTerms>, remaining = 1): Item {
  return itemOf({ name: 'default', limit: 5, windowMs: 60_000, ...terms }, remaining, 1000)
}

/** What the fields say after limiters that say this, one after the other. */
function joined(...states: FieldState[]): FieldState {
  const request = {}
  return states.map((each) => joinWritten(request, each)).at(-1) as FieldState
}

const namesOf = ({ policies }: FieldState) => policies.map(({ name }) => name)

function fieldsOf(written: FieldState, profile: HeaderProfile = 'draft-11') {
  const fields: Record<string, string> = {}
  writeFields(composeProfiles([profile]), written, (name, value) => {
    fields[name] = value
  })
  return fields
}

test('three limiters whose names clash: the later ones are numbered', () => {
  const three = joined(
    state([item({})]),
    state([item({}), item({ name: 'day' })]),
    state([item({ name: 'DEFAULT' }), item({ name: 'Day' })]),
  )
  expect(namesOf(three)).toEqual(['default', 'default-2', 'day', 'DEFAULT-3', 'Day-2'])
})

test('a number that is in use is not used again', () => {
  const earlier = state([item({ name: 'a' }), item({ name: 'A-2' })])
  expect(namesOf(joined(earlier, state([item({ name: 'a' })])))).toEqual(['a', 'A-2', 'a-3'])
})

test('a number that a policy gets is not the name of another one of its limiter', () => {
  const later = state([item({}), item({ name: 'default-2' })])
  expect(namesOf(joined(state([item({})]), later))).toEqual(['default', 'default-2', 'default-2-2'])
})

test('the longest names remain valid names', () => {
  const name = 'n'.repeat(128)
  const both = joined(state([item({ name })]), state([item({ name })]))
  expect(namesOf(both)).toEqual([name, `${'n'.repeat(120)}-2`])
})

test('of two refusals, the later one is reported, under its new name', () => {
  const refused = item({}, 0)
  const both = joined(state([item({})]), state([refused], [refused]))
  expect(both.violated.map((i) => both.policies[i]?.name)).toEqual(['default-2'])
  expect(fieldsOf(both).RateLimit).toBe('"default-2";r=0;t=1')
})

test('when a quota of an earlier limiter is full again is by the time of its own decision', () => {
  const both = joined(state([item({}, 0)], [], 5000), state([item({})], [], 90_000))
  expect(fieldsOf(both, 'legacy')['X-RateLimit-Reset']).toBe('6')
})

test('a policy keeps its other values under its new name', () => {
  const terms: Partial<ItemTerms> = {
    limit: 20,
    unit: 'content-bytes',
    partitionKey: Buffer.from('user:42'),
  }
  expect(fieldsOf(joined(state([item({})]), state([item(terms)])))).toEqual({
    'RateLimit-Policy':
      '"default";q=5;w=60, "default-2";q=20;qu="content-bytes";w=60;pk=:dXNlcjo0Mg==:',
    RateLimit: '"default";r=1;t=1, "default-2";r=1;t=1;pk=:dXNlcjo0Mg==:',
  })
})

test('three limiters on one response: each field once, the body names the policy as they do', async () => {
  const terms = { window: '1m', algorithm: 'sliding-log', headers: 'draft-11' } as const
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

test('draft-next has the cost to each policy, whichever limiter has it and whichever dry run is hidden', async () => {
  const terms = { window: '1m', algorithm: 'fixed-window', limit: 100 } as const
  const policies = [
    { ...terms, name: 'trial', dryRun: true, cost: 9 },
    { ...terms, name: 'account', key: 'user', cost: 5 },
    { ...terms, name: 'address', key: 'ip', cost: 2 },
  ] as const
  const headers = 'draft-next'
  const user = () => 42
  const server = await servePlain(
    [
      { policies, user, headers },
      { ...terms, cost: 60, headers },
    ],
    (_, response) => response.end(),
  )
  const served = await server.send()
  const refused = await server.send()
  await server.stop()
  expect(served.headers.ratelimit?.replace(/w=\d+/g, 'w=1')).toBe(
    '"account";a=95;w=1;c=5, "address";a=98;w=1;c=2, "default";a=40;w=1;c=60',
  )
  expect(served.headers['ratelimit-partition']).toBe('"account";user_id')
  expect(refused.headers.ratelimit).toMatch(/^"default";a=40;w=\d+;c=60$/)
})

/** Loads another copy of the package in this process, as ESM and CommonJS are. */
function copyOf<T>(path: string): T {
  let copy: T | undefined
  jest.isolateModules(() => {
    copy = jest.requireActual<T>(path)
  })
  return copy as T
}

test('limiters of two copies of the package write fields that list the policies of both', async () => {
  const Copy = copyOf<typeof import('../path/routed-limiter.ts')>(
    '../path/routed-limiter.ts',
  ).RoutedLimiter
  expect(Copy).not.toBe(RoutedLimiter)
  const terms = { limit: 5, window: '1m', algorithm: 'sliding-log' } as const
  const httpLimiters = [new RoutedLimiter(terms, plain), new Copy({ ...terms, limit: 1 }, plain)]
  httpLimiters.push(new RoutedLimiter({ ...terms, limit: 7 }, plain))
  const server = createServer(async (request, response) => {
    for (const { base } of httpLimiters) {
      if (!(await base.handle(request, response))) return
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { headers } = await fetch(url)
  expect(headers.get('RateLimit-Policy')).toBe(
    '"default";q=5;w=60, "default-2";q=1;w=60, "default-3";q=7;w=60',
  )
  expect(headers.get('RateLimit')).toMatch(
    /^"default";r=4;t=\d+, "default-2";r=0;t=\d+, "default-3";r=6;t=\d+$/,
  )
  const refused = await fetch(url)
  expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['default-2'] })
  expect(refused.headers.get('RateLimit')).toMatch(/^"default-2";r=0;t=\d+$/)
  server.closeAllConnections()
  server.close()
})
