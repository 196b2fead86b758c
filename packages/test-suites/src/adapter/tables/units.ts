import { expect } from 'expect'
import { eventually } from '../eventually.ts'
import { NOON, type World } from '../world.ts'

type Headers = { headers: Record<string, unknown> }

const of = (name: string) => (request: Headers) => Number(request.headers[name] ?? 0)

/** The actual cost of a call, if a header shows it at the end. */
const actual = (name: string) => (request: Headers) =>
  request.headers[name] === undefined ? undefined : Number(request.headers[name])

const base = { window: '1m', algorithm: 'fixed-window' } as const
const BUDGET = {
  retryAfterJitter: 0,
  headers: ['draft-11', 'openai', 'anthropic'],
  policies: [
    { name: 'requests', limit: 5, ...base },
    {
      ...base,
      name: 'in',
      unit: 'input-tokens',
      limit: 1000,
      cost: of('x-in'),
      settle: actual('x-in-used'),
    },
    {
      ...base,
      name: 'out',
      unit: 'tokens',
      limit: 2000,
      cost: of('x-out'),
      settle: actual('x-out-used'),
    },
  ],
} as const

/** Budgets in tokens: what is counted, and what clients see. */
export function unitTests(world: World): void {
  const { test } = world
  test('a call costs one request and an estimate of tokens, each in the fields of its unit', async () => {
    const site = await world.start(BUDGET)
    world.clock.set(NOON + 30_500)
    const reply = await site.send({ headers: { 'x-in': '300', 'x-out': '500' } })
    expect(reply.status).toBe(200)
    expect(reply.field('RateLimit-Policy')).toBe('"requests";q=5;w=60')
    expect(reply.field('RateLimit')).toBe('"requests";r=4;t=30')
    expect(reply.field('x-ratelimit-limit-requests')).toBe('5')
    expect(reply.field('x-ratelimit-remaining-requests')).toBe('4')
    expect(reply.field('x-ratelimit-reset-requests')).toBe('29.5s')
    expect(reply.field('x-ratelimit-remaining-tokens')).toBe('1500')
    expect(reply.field('anthropic-ratelimit-input-tokens-remaining')).toBe('700')
    expect(reply.field('anthropic-ratelimit-tokens-reset')).toBe('2026-11-20T12:01:00Z')
    expect(reply.field('Retry-After-Ms')).toBeUndefined()
    expect(site.decisions[0]?.policies.map(({ unit }) => unit)).toEqual([
      'requests',
      'input-tokens',
      'tokens',
    ])
  })

  test('decided together: a refusal by the tokens costs no request, and says when to come back', async () => {
    const site = await world.start(BUDGET)
    await site.send({ headers: { 'x-in': '900' } })
    world.clock.set(NOON + 47_700)
    const refused = await site.send({ headers: { 'x-in': '200' } })
    expect(refused.status).toBe(429)
    expect([refused.field('Retry-After'), refused.field('Retry-After-Ms')]).toEqual(['13', '12300'])
    expect(refused.field('x-ratelimit-remaining-requests')).toBe('4')
    expect(refused.field('anthropic-ratelimit-input-tokens-remaining')).toBe('100')
    // The unit is not registered: the draft has no word for what refused.
    expect(refused.field('RateLimit')).toBeUndefined()
    expect(JSON.parse(refused.body)['violated-policies']).toEqual(['in'])
    const smaller = await site.send({ headers: { 'x-in': '100' } })
    expect([smaller.status, smaller.field('x-ratelimit-remaining-requests')]).toEqual([200, '3'])
  })

  test('settled separately: a known cost is corrected, otherwise the estimate remains', async () => {
    const site = await world.start(BUDGET)
    await site.send({ headers: { 'x-in': '300', 'x-out': '500', 'x-out-used': '1100' } })
    const left = async () => {
      const reply = await site.send()
      return ['input-tokens', 'tokens'].map((unit) =>
        Number(reply.field(`anthropic-ratelimit-${unit}-remaining`)),
      )
    }
    await eventually('it is settled', async () => (await left())[1] === 900)
    expect(await left()).toEqual([700, 900])
  })

  test('a store that fails: Retry-After-Ms too', async () => {
    const site = await world.start({ ...BUDGET, headers: 'openai', retryAfterJitter: 0.1 })
    const reply = await site.send({ headers: { 'x-in': '1001' } })
    expect(reply.status).toBe(429)
    expect(reply.seconds('Retry-After')).toBe(Math.ceil(reply.seconds('Retry-After-Ms') / 1000))
  })
}
