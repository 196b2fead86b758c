import { inspect } from 'node:util'
import { expect } from 'expect'
import type { TestOptions } from '../adapter-kit.ts'
import { warned } from '../warnings.ts'
import type { World } from '../world.ts'

const OPTIONS = { limit: 1000, window: '1m' } as const
const from = (forwarded: string) => ({ headers: { 'X-Forwarded-For': forwarded } })

/** The proxies to trust about the client's address: the option, and unsafe settings of the framework. */
export function proxyTests(world: World): void {
  const { test } = world
  for (const [trustProxy, forwarded, key] of [
    ['loopback', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
    [['127.0.0.0/8', '10.0.0.0/8'], '203.0.113.7, 10.1.2.3', '203.0.113.7'],
    ['::ffff:127.0.0.0/104', '203.0.113.7', '203.0.113.7'],
    ['10.0.0.0/8', '203.0.113.7', '127.0.0.1'],
    ['loopback', '\t203.0.113.7:80', '203.0.113.7'],
    ['loopback', 'nonsense', 'unknown'],
    [1, '1.1.1.1, 203.0.113.7', '203.0.113.7'],
    [2, '1.1.1.1, 203.0.113.7', '1.1.1.1'],
    [0, '203.0.113.7', '127.0.0.1'],
    [(address) => address === '127.0.0.1', '203.0.113.7', '203.0.113.7'],
  ] as readonly (readonly [TestOptions['trustProxy'], string, string])[])
    test(`trustProxy ${inspect(trustProxy)}, X-Forwarded-For ${JSON.stringify(forwarded)}: ${key}`, async () => {
      const site = await world.start({ ...OPTIONS, trustProxy } as TestOptions)
      await site.send(from(forwarded))
      expect(site.keys).toEqual([key])
    })

  test('of thousands of entries the last 32 are looked at', async () => {
    const site = await world.start({ ...OPTIONS, trustProxy: 'loopback' })
    await site.send(from(`203.0.113.7,${'127.0.0.1,'.repeat(1400)}127.0.0.1`))
    expect(site.keys).toEqual(['127.0.0.1'])
  })

  for (const [proxies, forwarded, key] of [
    ['loopback', 'for=1.1.1.1, for="203.0.113.7:80"', '203.0.113.7'],
    ['loopback, 10.0.0.0/8', 'for=203.0.113.7;host="a,b", for="10.1.2.3"', '203.0.113.7'],
    ['loopback', 'for="[2001:db8:1:2ff::1]:80";proto=https', '2001:db8:1:200::/56'],
    ['loopback', 'for=1.1.1.1;x=", for=203.0.113.7', '203.0.113.7'],
    ['loopback', 'for=1.1.1.1, for=_hidden', 'unknown'],
    ['loopback', 'for=1.1.1.1, proto=https', 'unknown'],
    ['10.0.0.0/8', 'for=203.0.113.7', '127.0.0.1'],
    [2, 'for=1.1.1.1, for=_hidden', '1.1.1.1'],
    ['loopback', `for=203.0.113.7,${'for=127.0.0.1,'.repeat(900)}for=127.0.0.1`, '127.0.0.1'],
  ] as const)
    test(`trustProxy ${proxies}, Forwarded ${forwarded.slice(0, 50)}: ${key}`, async () => {
      const trustProxy = { proxies, header: 'Forwarded' } as const
      const site = await world.start({ ...OPTIONS, trustProxy })
      await site.send({ headers: { Forwarded: forwarded, 'X-Forwarded-For': '9.9.9.9' } })
      expect(site.keys).toEqual([key])
    })

  test('a client chooses the field that its proxies do not write: it is not read', async () => {
    const site = await world.start({ ...OPTIONS, trustProxy: 'loopback' })
    await site.send({ headers: { Forwarded: 'for=9.9.9.9' } })
    expect(site.keys).toEqual(['127.0.0.1'])
  })

  test('X-Forwarded-For while no proxy is trusted causes one warning', async () => {
    const site = await world.start(OPTIONS)
    for (let i = 0; i < 3; i += 1) await site.send(from('203.0.113.7'))
    expect(warned('SLUICE_PROXY_UNTRUSTED')).toBe(1)
  })

  if (world.unsafeTrust.length === 0) return

  for (const [setting] of world.unsafeTrust)
    test(`trustProxy takes the place of the framework's ${JSON.stringify(setting)}, also where its field is missing`, async () => {
      const trustProxy = { proxies: 'loopback', header: 'Forwarded' } as const
      const site = await world.start({ ...OPTIONS, trustProxy }, { trustProxy: setting })
      await site.send(from('9.9.9.9'))
      expect(site.keys).toEqual(['127.0.0.1'])
    })

  for (const [trustProxy, code] of world.unsafeTrust)
    test(`the framework's ${JSON.stringify(trustProxy)} causes one warning, with or without an earlier health check`, async () => {
      const site = await world.start(OPTIONS, { trustProxy })
      const before = warned(code)
      await site.send()
      expect(warned(code)).toBe(before)
      for (let i = 0; i < 3; i += 1) await site.send(from('203.0.113.7'))
      expect(warned(code)).toBe(1)
    })
}
