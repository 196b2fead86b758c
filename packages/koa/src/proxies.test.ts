import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { rateLimit as limiterOf } from './index.ts'
import { listen, VERSIONS } from './testing.ts'

const OPTIONS = { limit: 1000, window: '1d' } as const
const from = (forwarded: string) => ({ headers: { 'X-Forwarded-For': forwarded } })

/** What X-Forwarded-For says, and the client by `proxy` and by `proxy` with `maxIpsCount: 1`. */
const CLIENTS = [
  [undefined, '127.0.0.1', '127.0.0.1'],
  ['', '127.0.0.1', '127.0.0.1'],
  ['1.1.1.1, 203.0.113.7', '1.1.1.1', '203.0.113.7'],
  ['1.1.1.1,203.0.113.7,10.0.0.2', '1.1.1.1', '10.0.0.2'],
  [' , ,203.0.113.7', '203.0.113.7', '203.0.113.7'],
  ['203.0.113.7,', '203.0.113.7', '203.0.113.7'],
  ['203.0.113.7,\t,', '203.0.113.7', '203.0.113.7'],
  ['1.1.1.1,,203.0.113.7', '1.1.1.1', '203.0.113.7'],
  [', ,', '127.0.0.1', '127.0.0.1'],
  ['1.1.1.1,\t203.0.113.7', '1.1.1.1', '203.0.113.7'],
  ['203.0.113.7:4711', '203.0.113.7', '203.0.113.7'],
  ['[2001:db8::1]:443', '2001:db8::/56', '2001:db8::/56'],
  ['"203.0.113.7"', '203.0.113.7', '203.0.113.7'],
  ['fe80::1%eth0', 'fe80::/56', 'fe80::/56'],
  ['unknown', 'unknown', 'unknown'],
  ['_hidden', 'unknown', 'unknown'],
  ['127.1', 'unknown', 'unknown'],
  ['a'.repeat(6000), 'unknown', 'unknown'],
  [`203.0.113.7${', 10.0.0.2'.repeat(1000)}`, '203.0.113.7', '10.0.0.2'],
] as const

const KEYS = new Set(['198.51.100.1', ...CLIENTS.flatMap(([, ...keys]) => keys)])

const shown = (text = 'none') => (text.length > 40 ? `${text.slice(0, 30)} …` : text)

describe.each(VERSIONS)('the client behind a proxy in %s', (_, Koa) => {
  /** An application that notes the address by which it limits. */
  function noting(settings: ConstructorParameters<typeof Koa>[0], ip?: string) {
    const keys: (string | undefined)[] = []
    const app = new Koa(settings)
    if (ip !== undefined)
      app.use((ctx, next) => {
        ctx.request.ip = ip
        return next()
      })
    const limit = limiterOf(OPTIONS)
    app.use(limit)
    app.use(async (ctx) => {
      for (const key of KEYS) {
        if ((await limit.limiter.peek(key)).remaining < OPTIONS.limit) keys.push(key)
        await limit.limiter.reset(key)
      }
      ctx.body = ''
    })
    return { app, keys }
  }

  describe.each(
    CLIENTS.map(([forwarded, first, last]) => ({
      title: shown(forwarded),
      forwarded,
      first,
      last,
    })),
  )('X-Forwarded-For: $title', ({ forwarded, first, last }) => {
    const request = forwarded === undefined ? {} : from(forwarded)

    test.each([
      [{ proxy: true }, first],
      [{ proxy: true, maxIpsCount: 1 }, last],
      [{ proxy: false }, '127.0.0.1'],
    ])('%j: %s', async (settings, key) => {
      const { app, keys } = noting(settings)
      await (await listen(app)).send('/', request)
      expect(keys).toEqual([key])
    })
  })

  test('another header, and more entries, as the application says', async () => {
    const settings = { proxy: true, proxyIpHeader: 'X-Real-IP', maxIpsCount: 2 }
    const { app, keys } = noting(settings)
    const headers = { 'X-Real-IP': '1.1.1.1, 203.0.113.7, , 10.0.0.2' }
    await (await listen(app)).send('/', { headers })
    expect(keys).toEqual(['203.0.113.7'])
  })

  test.each([{ proxy: true }, { proxy: true, maxIpsCount: 1 }, {}])(
    'an address that the application has set itself remains: %j',
    async (settings) => {
      const { app, keys } = noting(settings, '198.51.100.1')
      const site = await listen(app)
      for (const forwarded of ['203.0.113.7', '203.0.113.7,', ',']) {
        await site.send('/', from(forwarded))
        expect(keys.splice(0)).toEqual(['198.51.100.1'])
      }
    },
  )
})

describe.each(VERSIONS)('unsafe settings of %s', (_, Koa) => {
  let rateLimit: typeof import('./index.ts').rateLimit
  let warned: string[]

  // A warning comes once per process: reset, so that it comes in each test.
  beforeEach(async () => {
    jest.resetModules()
    rateLimit = (await import('./index.ts')).rateLimit
    warned = []
    jest.spyOn(process, 'emitWarning').mockImplementation(((_text: string, options: object) => {
      warned.push((options as { code: string }).code)
    }) as typeof process.emitWarning)
  })

  test('trustProxy goes before the setting of Koa', async () => {
    const app = new Koa({ proxy: true })
    const limit = rateLimit({ ...OPTIONS, trustProxy: 'loopback, 10.0.0.0/8' })
    const site = await listen(app.use(limit))
    await site.send('/', from('1.1.1.1, 203.0.113.7, 10.0.0.2'))
    expect(await limit.limiter.peek('203.0.113.7')).toMatchObject({ remaining: 999 })
    expect(warned).toEqual([])
  })

  test.each([{}, { proxyIpHeader: 'x-forwarded-for' }])(
    'proxy without maxIpsCount causes a warning, even after a health check: %j',
    async (settings) => {
      const app = new Koa({ proxy: true, ...settings })
      const site = await listen(app.use(rateLimit(OPTIONS)))
      await site.statuses(3, '/health')
      expect(warned).toEqual([])
      await site.send('/', from('203.0.113.7'))
      expect(warned).toEqual(['SLUICE_PROXY_EVERYBODY'])
      await site.statuses(3, '/', from('203.0.113.7'))
      expect(warned).toHaveLength(1)
    },
  )

  test.each([{ maxIpsCount: 1 }, { proxyIpHeader: 'CF-Connecting-IP' }])(
    'proxy with %j causes no warning',
    async (settings) => {
      const app = new Koa({ proxy: true, ...settings })
      await (await listen(app.use(rateLimit(OPTIONS)))).statuses(2, '/', from('203.0.113.7'))
      expect(warned).toEqual([])
    },
  )

  test('X-Forwarded-For while proxy is off causes a warning', async () => {
    const site = await listen(new Koa().use(rateLimit(OPTIONS)))
    await site.send()
    expect(warned).toEqual([])
    await site.statuses(2, '/', from('203.0.113.7'))
    expect(warned).toEqual(['SLUICE_PROXY_UNTRUSTED'])
  })

  test('a setting changed during traffic causes a warning', async () => {
    const app = new Koa({ proxy: true, maxIpsCount: 1 })
    const site = await listen(app.use(rateLimit(OPTIONS)))
    await site.send('/', from('203.0.113.7'))
    app.maxIpsCount = 0
    await site.send('/', from('203.0.113.7'))
    expect(warned).toEqual(['SLUICE_PROXY_EVERYBODY'])
  })
})
