import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals'
import { type Ledger, memoryStore, type Store } from '@sluice/core'
import type { Change } from '@sluice/core/store'
import { failingStore, type ManualClock, manualClock } from '@sluice/core/testing'
import type { Routes } from '../options/rate-limit-options.ts'
import { type PlainOptions, plain } from '../testing/plain-server.ts'
import { RoutedLimiter } from './routed-limiter.ts'

type PlainRoutes = Routes<IncomingMessage, ServerResponse>

/** The memory store behind promises, as a remote one is. */
function asyncStore(store: Store<'sync'>): Store<'async'> {
  const later =
    <A extends unknown[], R>(act: (...args: A) => R) =>
    async (...args: A) =>
      act(...args)
  return {
    mode: 'async',
    clock: store.clock,
    open(keyspaces, prefix) {
      const ledger = store.open(keyspaces, prefix)
      return {
        decide: later((...asked: Parameters<Ledger['decide']>) =>
          structuredClone(ledger.decide(...asked)),
        ),
        change: later((change: Change) => ledger.change(change)),
      }
    },
    close: () => store.close(),
  }
}

const stores: Store[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

describe.each(['memory', 'a store that answers by promises'])('on %s', (kind) => {
  let clock: ManualClock

  function limiterWith(options: object, routes: PlainRoutes) {
    clock = manualClock()
    const memory = memoryStore({ clock })
    const store = kind === 'memory' ? memory : asyncStore(memory)
    stores.push(store)
    const defaults = { store, limit: 100, window: '1m', algorithm: 'fixed-window' }
    const httpLimiters = new RoutedLimiter(
      { ...defaults, ...options, routes } as PlainOptions,
      plain,
    )
    return (route: string, from = '192.0.2.1') => ask(httpLimiters, route, from)
  }

  async function ask(
    httpLimiters: RoutedLimiter<IncomingMessage, ServerResponse>,
    route: string,
    from: string,
  ) {
    const [method, url] = route.split(' ')
    const request = { method, url, headers: {}, socket: { remoteAddress: from } } as never
    const checked = httpLimiters.of(request)[0]?.decide(request)
    expect(checked instanceof Promise).toBe(checked !== undefined && kind !== 'memory')
    const decision = (await checked)?.decision
    return decision && { allowed: decision.allowed, left: decision.remaining }
  }

  test('an entry with its own limit is counted separately, and keeps the other options', async () => {
    const send = limiterWith({ cost: 2 }, { 'POST /login': { limit: 5 } })
    expect(await send('POST /login')).toEqual({ allowed: true, left: 3 })
    expect(await send('GET /login')).toEqual({ allowed: true, left: 98 })
    expect(await send('POST /login')).toEqual({ allowed: true, left: 1 })
    expect(await send('POST /login')).toEqual({ allowed: false, left: 1 })
    expect(await send('GET /other')).toEqual({ allowed: true, left: 96 })
  })

  test('a ban holds for every entry, and all refusals count', async () => {
    const ban = { after: 2, within: '1h', for: ['1d'] }
    const send = limiterWith(
      { limit: 1, ban },
      { 'POST /login': { limit: 5 }, '/file': { cost: 0 }, '/free': false },
    )
    for (const route of ['GET /', 'GET /']) await send(route)
    for (let i = 0; i < 5; i += 1) {
      expect(await send('POST /login')).toEqual({ allowed: true, left: 4 - i })
    }
    // The second refusal, of another route.
    expect(await send('POST /login')).toEqual({ allowed: false, left: 0 })
    clock.advance(86_399_999)
    for (const route of ['GET /file', 'GET /', 'POST /login']) {
      expect(await send(route)).toMatchObject({ allowed: false })
      expect(await send(route, '192.0.2.2')).toMatchObject({ allowed: true })
    }
    expect(await send('GET /free')).toBeUndefined()
    clock.advance(1)
    expect(await send('POST /login')).toEqual({ allowed: true, left: 4 })
  })

  test('a shorter list of an entry cuts no ban, another `within` bans apart', async () => {
    const ban = { after: 1, within: '1h', for: ['1d'] }
    const send = limiterWith(
      { limit: 1, ban },
      {
        '/short': { ban: { ...ban, for: ['1m'] } } as never,
        '/apart': { limit: 1, ban: { ...ban, within: '2h' } } as never,
      },
    )
    for (let i = 0; i < 2; i += 1) await send('GET /')
    for (let i = 0; i < 60; i += 1) {
      expect(await send('GET /short')).toMatchObject({ allowed: false })
      clock.advance(60_000)
    }
    expect(await send('GET /')).toMatchObject({ allowed: false })
    expect(await send('GET /apart')).toMatchObject({ allowed: true })
  })

  test('two entries with the same limit are counted separately', async () => {
    const send = limiterWith({}, { '/a': { limit: 5 }, '/b': { limit: 5 } })
    await send('GET /a')
    expect(await send('GET /b')).toEqual({ allowed: true, left: 4 })
  })

  test('a limit equal to that of the base is still its own', async () => {
    const send = limiterWith({}, { '/a': { limit: 100 } })
    await send('GET /')
    expect(await send('GET /a')).toEqual({ allowed: true, left: 99 })
  })

  test('a cost alone charges the same quota', async () => {
    const send = limiterWith({}, { '/search/:id': { cost: 5 } })
    expect(await send('GET /search/1')).toEqual({ allowed: true, left: 95 })
    expect(await send('GET /')).toEqual({ allowed: true, left: 94 })
    expect(await send('GET /search/2')).toEqual({ allowed: true, left: 89 })
  })

  test('a key alone charges the same quota, under that key', async () => {
    const send = limiterWith({}, { '/shared': { key: () => 'everybody' } })
    await send('GET /shared')
    expect(await send('GET /shared', '192.0.2.2')).toEqual({ allowed: true, left: 98 })
    expect(await send('GET /')).toEqual({ allowed: true, left: 99 })
  })

  test('false exempts', async () => {
    const send = limiterWith({}, { '/health': false })
    expect(await send('GET /health')).toBeUndefined()
    expect(await send('GET /healthy')).toEqual({ allowed: true, left: 99 })
  })

  test('an option that is undefined in an entry is not replaced', async () => {
    const send = limiterWith({ cost: 3 }, { '/a': { limit: undefined, cost: undefined } as never })
    await send('GET /')
    expect(await send('GET /a')).toEqual({ allowed: true, left: 94 })
  })

  test('its own limit replaces several policies, policies replace a limit', async () => {
    const policies = [{ name: 'all', limit: 9, window: '1h' as const }]
    const single = { limit: undefined, window: undefined, algorithm: undefined, policies }
    const one = limiterWith(single, { '/a': { limit: 3, window: '1m' } })
    expect(await one('GET /a')).toEqual({ allowed: true, left: 2 })
    expect(await one('GET /')).toEqual({ allowed: true, left: 8 })
    const several = limiterWith({}, { '/a': { policies } })
    expect(await several('GET /a')).toEqual({ allowed: true, left: 8 })
    expect(await several('GET /')).toEqual({ allowed: true, left: 99 })
  })
})

describe('a path that reads as several routes', () => {
  const routes = {
    'POST /login': { limit: 5 },
    '/static/*path': false,
    '/packages/:name': { limit: 1000 },
    '/wild/*path': { limit: 500 },
  } as PlainRoutes
  const routed = new RoutedLimiter({ limit: 100, window: '1m', routes }, plain)
  afterAll(() => routed.limiter.close())

  test.each([
    ['POST /login', [5]],
    ['POST /%6cogin', [5, 100]],
    ['POST /LO%67in', [5, 100]],
    ['POST /static/../login', [5]],
    ['POST /static/%252e%252e%252flogin', [5]],
    ['GET /static/a/b.png', []],
    ['GET /static/a%20b.png', []],
    ['GET /static//b.png', []],
    // What has no entry there is limited by the options that apply without one.
    ['GET /static/../other', [100]],
    ['GET /static/..%2Fother', [100]],
    ['GET /wild/../other', [100, 500]],
    // An encoded slash belongs to the parameter: it costs nothing elsewhere.
    ['GET /packages/@scope%2Fname', [1000]],
    ['GET /packages/..%2Fother', [1000, 100]],
  ])('%s passes the limits %p', (route, limits) => {
    const [method, url] = route.split(' ')
    const found = routed.of({ method, url, headers: {} } as never)
    expect(found.map(({ options }) => (options as { limit: number }).limit)).toEqual(limits)
  })
})

describe('a mistake in an entry names the route', () => {
  test.each<[object, string, string]>([
    [{ limitt: 5 }, 'SLUICE_OPTION_UNKNOWN', 'limitt'],
    [{ store: memoryStore }, 'SLUICE_OPTION_UNKNOWN', 'store'],
    [{ prefix: 'x' }, 'SLUICE_OPTION_UNKNOWN', 'prefix'],
    [{ routes: {} }, 'SLUICE_OPTION_UNKNOWN', 'routes'],
    [{ limit: '5' }, 'SLUICE_OPTION_TYPE', 'limit'],
    [{ cost: -1 }, 'SLUICE_OPTION_RANGE', 'cost'],
    [{ burst: 5 }, 'SLUICE_OPTION_CONFLICT', 'burst'],
    [{ policies: [{ limit: 5, window: 'x' }] }, 'SLUICE_OPTION_TYPE', 'policies[0].window'],
    [{ limit: 1, policies: [{ limit: 5, window: '1s' }] }, 'SLUICE_OPTION_CONFLICT', 'limit'],
    [{ deny: ['10.0.0.0/33'] }, 'SLUICE_CIDR', 'deny'],
  ])('%p', (entry, code, option) => {
    const routes = { 'POST /login': entry } as PlainRoutes
    expect(() => new RoutedLimiter({ limit: 9, window: '1m', routes }, plain)).toThrow(
      expect.objectContaining({ code, option: `routes['POST /login'].${option}` }),
    )
  })

  test.each([true, null, 5, [], 'off'])('%p is no entry', (entry) => {
    const routes = { '/a': entry } as never
    expect(() => new RoutedLimiter({ limit: 9, window: '1m', routes }, plain)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: "routes['/a']" }),
    )
  })

  test.each([true, null, [], '/a'])('routes: %p is refused', (routes) => {
    expect(() => new RoutedLimiter({ limit: 9, window: '1m', routes } as never, plain)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'routes' }),
    )
  })
})

test('add: undefined for an exempt route, else a limiter on the store of the base', () => {
  const routed = new RoutedLimiter({ limit: 9, window: '1m' }, plain)
  expect(routed.add('/a', 'at', false)).toBeUndefined()
  expect(routed.add('/a', 'at', { limit: 5 })?.limiter.store).toBe(routed.base.limiter.store)
  routed.limiter.close()
})

test('add: a route that is added while a meter listens is metered too', () => {
  const routed = new RoutedLimiter({ limit: 9, window: '1m' }, plain, { addsRoutes: true })
  const charged = jest.fn()
  routed.base.limiter.observe(charged)
  const request = { method: 'GET', url: '/a', headers: {}, socket: { remoteAddress: '::1' } }
  routed.add('/a', 'at', { limit: 5 })?.decide(request as never)
  expect(charged).toHaveBeenCalledTimes(1)
  routed.limiter.close()
})

describe('a route with its own failure mode', () => {
  test('denies while the rest allows, on the same store', async () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const store = failingStore()
    stores.push(store)
    const options = { store, limit: 0, window: '1m', onStoreError: 'allow' } as PlainOptions
    const routes = { 'POST /payments': { onStoreError: 'deny', deadline: '1s' } } as PlainRoutes
    const httpLimiters = new RoutedLimiter({ ...options, routes }, plain)
    store.fail()
    const ask = async (method: string, url: string) => {
      const socket = { remoteAddress: '192.0.2.1' }
      const request = { method, url, headers: {}, socket } as never
      const verdict = await httpLimiters.of(request)[0]?.decide(request)
      return [verdict?.decision.source, verdict?.refusal?.status, verdict?.state]
    }
    expect(await ask('GET', '/catalogue')).toEqual(['allow', undefined, undefined])
    expect(await ask('POST', '/payments')).toEqual(['deny', 503, undefined])
    emitted.mockRestore()
  })
})
