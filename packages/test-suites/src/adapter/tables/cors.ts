import { expect } from 'expect'
import type { World } from '../world.ts'

const ORIGIN = { Origin: 'https://app.example' }
const PREFLIGHT = {
  method: 'OPTIONS',
  headers: { ...ORIGIN, 'Access-Control-Request-Method': 'POST' },
}
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After'

/** Browsers of other origins. */
export function corsTests(world: World): void {
  const { test } = world
  test('preflights are neither limited nor counted', async () => {
    const site = await world.start({ limit: 1, window: '1m' })
    const preflights = await site.sendTimes(3, PREFLIGHT)
    expect(preflights.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(preflights[0]?.limitFields()).toEqual({})
    expect((await site.send()).status).toBe(200)
    expect((await site.send()).status).toBe(429)
    expect((await site.send(PREFLIGHT)).status).toBe(200)
  })

  test('preflights of a denied client are refused, whether by address or by key', async () => {
    const denied = { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, 'x-user': 'mallory' } }
    for (const deny of [['127.0.0.1'], ['user:mallory']]) {
      const site = await world.start({ limit: 1, window: '1m', key: 'user', deny })
      const [reply, again] = await site.sendTimes(2, denied)
      expect([reply?.status, again?.status]).toEqual([403, 403])
      expect(reply?.field('Retry-After')).toBeUndefined()
      expect([site.keys, site.decisions]).toEqual([[], []])
    }
    const dry = await world.start({ limit: 1, window: '1m', deny: ['127.0.0.1'], dryRun: true })
    expect((await dry.send(denied)).status).toBe(200)
  })

  test('preflights of others pass, uncounted, even if their key fails', async () => {
    const fails = () => {
      throw new Error('no credentials')
    }
    for (const key of ['user', fails, async () => fails()] as const) {
      const site = await world.start({ limit: 1, window: '1m', key, deny: ['user:mallory'] })
      const replies = await site.sendTimes(3, PREFLIGHT)
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
      expect([site.keys, site.errors]).toEqual([[], []])
    }
    const skip = () => true
    const site = await world.start({ limit: 1, window: '1m', skip, deny: ['127.0.0.1'] })
    expect((await site.send(PREFLIGHT)).status).toBe(200)
  })

  for (const [given, headers] of [
    ['plain', {}],
    ['with an origin', ORIGIN],
    ['with a method asked for', { 'Access-Control-Request-Method': 'POST' }],
  ] as const)
    test(`OPTIONS that is no preflight is limited: ${given}`, async () => {
      const site = await world.start({ limit: 1, window: '1m' })
      const replies = await site.sendTimes(2, { method: 'OPTIONS', headers })
      expect(replies.map(({ status }) => status)).toEqual([200, 429])
    })

  test('a refusal keeps what CORS has allowed before it', async () => {
    const site = await world.start(
      { limit: 0, window: '1m' },
      {
        fields: {
          'Access-Control-Allow-Origin': ORIGIN.Origin,
          'Access-Control-Expose-Headers': EXPOSED,
        },
      },
    )
    const refused = await site.send({ headers: ORIGIN })
    expect(refused.status).toBe(429)
    expect(refused.all('Access-Control-Allow-Origin')).toEqual([ORIGIN.Origin])
    expect(refused.all('Access-Control-Expose-Headers')).toEqual([EXPOSED])
  })
}
