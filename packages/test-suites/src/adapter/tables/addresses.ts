import { networkInterfaces } from 'node:os'
import { expect } from 'expect'
import { warned } from '../warnings.ts'
import type { World } from '../world.ts'

/** Values of X-Forwarded-For, by the key that they must make. */
const FORWARDED = {
  '203.0.113.7': [
    '203.0.113.7',
    '::ffff:203.0.113.7',
    '::ffff:cb00:7107',
    '::FFFF:203.0.113.7',
    '0:0:0:0:0:ffff:cb00:7107',
    '203.0.113.7:4711',
    '"203.0.113.7"',
    '"203.0.113.7:4711"',
    '1.1.1.1, 203.0.113.7',
    '1.1.1.1,\t203.0.113.7',
    ' , ,203.0.113.7',
  ],
  '2001:db8:1:200::/56': [
    '2001:db8:1:2ff:aaaa::1',
    '2001:DB8:1:200::5',
    '2001:0db8:0001:0200:0000:0000:0000:0005',
    '[2001:db8:1:2ab::9]:443',
    '[2001:db8:1:2ab::9]',
    '"[2001:db8:1:2ab::9]:443"',
    '2001:db8:1:2ff::1.2.3.4',
    '2001:db8:1:200::1%eth0',
  ],
}

const OPTIONS = { limit: 1000, window: '1m' } as const
const BEHIND_PROXY = { trustProxy: '127.0.0.1' }
const from = (forwarded: string | string[]) => ({ headers: { 'X-Forwarded-For': forwarded } })

const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1')

/** The default key: one for each client, however its address is written. */
export function addressTests(world: World): void {
  const { test } = world
  test('all spellings of an address share its quota', async () => {
    const site = await world.start(OPTIONS, BEHIND_PROXY)
    for (const [key, spellings] of Object.entries(FORWARDED)) {
      let left = OPTIONS.limit
      for (const spelling of spellings) {
        left -= 1
        expect((await site.send(from(spelling))).remaining).toBe(left)
        expect(site.keys.at(-1)).toBe(key)
      }
    }
  })

  test('the addresses of one /56 share a key, the neighbouring /56 has its own', async () => {
    const site = await world.start(OPTIONS, BEHIND_PROXY)
    for (let i = 0; i < 20; i += 1) {
      const group = (0x0200 + ((i * 37) & 0xff)).toString(16)
      await site.send(from(`2001:db8:1:${group}:${(i * 7919).toString(16).slice(0, 4)}::${i + 1}`))
    }
    expect(new Set(site.keys)).toEqual(new Set(['2001:db8:1:200::/56']))
    expect((await site.send(from('2001:db8:1:300::1'))).remaining).toBe(OPTIONS.limit - 1)
    expect(site.keys.at(-1)).toBe('2001:db8:1:300::/56')
  })

  for (const [ipv6Prefix, key] of [
    [64, '2001:db8:1:2ff::/64'],
    [48, '2001:db8:1::/48'],
    [32, '2001:db8::/32'],
    [128, '2001:db8:1:2ff:aaaa::1/128'],
  ] as const)
    test(`ipv6Prefix ${ipv6Prefix}`, async () => {
      const site = await world.start({ ...OPTIONS, ipv6Prefix }, BEHIND_PROXY)
      await site.send(from('2001:db8:1:2ff:aaaa::1'))
      await site.send(from('203.0.113.7'))
      expect(site.keys).toEqual([key, '203.0.113.7'])
    })

  test('clients without an address share one quota, with one warning', async () => {
    const site = await world.start({ limit: 2, window: '1m' }, BEHIND_PROXY)
    const garbage = ['a'.repeat(6000), 'nobody', '_1', '_2']
    const statuses: number[] = []
    for (const each of garbage) statuses.push((await site.send(from(each))).status)
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(new Set(site.keys)).toEqual(new Set(['unknown']))
    expect(warned('SLUICE_ADDRESS_UNKNOWN')).toBe(1)
  })

  test('a client on a Unix socket has no address, and is limited', async () => {
    const site = await world.start({ limit: 1, window: '1m' }, { listen: 'socket' })
    const statuses = (await site.sendTimes(2)).map(({ status }) => status)
    expect([statuses, site.keys]).toEqual([
      [200, 429],
      ['unknown', 'unknown'],
    ])
  })

  test('entries that a client puts before its own address change nothing', async () => {
    const site = await world.start(OPTIONS, { trustProxy: '127.0.0.1, 10.0.0.0/8' })
    for (const prefix of ['', '1.1.1.1, ', '10.0.0.9, 127.0.0.1, ', 'x, , ', '198.51.100.1, '])
      await site.send(from(`${prefix}203.0.113.7, 10.0.0.2`))
    await site.send(from(['6.6.6.6', '203.0.113.7', '10.0.0.2']))
    expect(new Set(site.keys)).toEqual(new Set(['203.0.113.7']))
  })

  for (const [forwarded, key] of [
    [undefined, '127.0.0.1'],
    ['1.1.1.1,203.0.113.7,10.0.0.2', '203.0.113.7'],
    ['203.0.113.7,', '203.0.113.7'],
    ['127.1', 'unknown'],
  ] as const)
    test(`behind named proxies ${JSON.stringify(forwarded)} is ${key}`, async () => {
      const site = await world.start(OPTIONS, { trustProxy: '127.0.0.1, 10.0.0.0/8' })
      await site.send(forwarded === undefined ? {} : from(forwarded))
      expect(site.keys).toEqual([key])
    })

  test('other fields that a client can write are not read', async () => {
    const site = await world.start(OPTIONS, BEHIND_PROXY)
    for (const name of ['CF-Connecting-IP', 'X-Real-IP', 'True-Client-IP'])
      await site.send({ headers: { [name]: '203.0.113.7' } })
    await site.send({ headers: { Forwarded: 'for=203.0.113.7, for="[2001:db8::1]:4711"' } })
    expect(new Set(site.keys)).toEqual(new Set(['127.0.0.1']))
  })

  test('a field with one address counts where the option names it, from the named proxies', async () => {
    const header = 'CF-Connecting-IP'
    const request = { headers: { [header]: '203.0.113.7' } }
    const behind = { ...OPTIONS, trustProxy: { proxies: 'loopback', header } } as const
    const site = await world.start(behind)
    await site.send(request)
    const direct = await world.start({ ...behind, trustProxy: { proxies: '10.0.0.0/8', header } })
    await direct.send(request)
    expect([site.keys, direct.keys]).toEqual([['203.0.113.7'], ['127.0.0.1']])
  })

  test('X-Forwarded-For of a peer that is not trusted is ignored', async () => {
    const site = await world.start(OPTIONS, { trustProxy: '10.0.0.0/8' })
    await site.send(from('203.0.113.7'))
    expect(site.keys).toEqual(['127.0.0.1'])
  })

  test('X-Forwarded-For is ignored while no proxy is trusted', async () => {
    const site = await world.start({ limit: 1, window: '1m' })
    const replies = [await site.send(from('203.0.113.7')), await site.send(from('203.0.113.8'))]
    expect(replies.map(({ status }) => status)).toEqual([200, 429])
    expect(site.keys).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  if (!hasIPv6) return

  test('IPv4 clients of a dual-stack listener have keys of their own', async () => {
    const site = await world.start({ limit: 1, window: '1m' }, { listen: '::' })
    const statuses: number[] = []
    for (const client of ['127.0.0.1', '127.0.0.2', '127.0.0.1'])
      statuses.push((await site.send({ to: '127.0.0.1', from: client })).status)
    expect(statuses).toEqual([200, 200, 429])
    expect(site.keys).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.1'])
  })

  test('an IPv6 client is keyed by its network', async () => {
    const site = await world.start(OPTIONS, { listen: '::' })
    await site.send({ to: '::1' })
    expect(site.keys).toEqual(['::/56'])
  })
}
