import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals'
import { createLimiter, type InspectOptions, type Limiter, type LimiterOptions } from '@sluice/core'
import { policyControl, sharedDocumentsOf } from '@sluice/core/operator'
import { fakeTerminal } from '@sluice/terminal/testing/fake-terminal'
import { patient, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { blockFor, type Change, limitTo } from './change.ts'
import { changeCommand } from './change-command.ts'
import { keyspacesFor } from './client-plan.ts'
import { connect } from './connect.ts'
import type { Connection } from './connection.ts'
import type { ChangeFlags, LimitFlags, TopFlags } from './flags.ts'
import { inspectCommand } from './inspect-command.ts'
import { topCommand } from './top-command.ts'

let redis: RedisServer
let connection: Connection
beforeAll(async () => {
  redis = await startRedis()
  connection = await connect({ redis: redis.url })
})
afterAll(async () => {
  connection?.close()
  await redis.stop()
})
beforeEach(() => redis.command('FLUSHALL'))

const policies = [
  { name: 'burst', limit: 5, window: '1d', algorithm: 'token-bucket', burst: 20 },
  { name: 'day', limit: 100, window: '1d' },
] as const

function limiterOf(options: object = { policies }): Limiter<'async'> {
  const given: unknown = { ...patient, prefix: 'sluice', store: connection.store, ...options }
  return createLimiter(given as LimiterOptions) as Limiter<'async'>
}

const flags: ChangeFlags = { prefix: 'sluice', ipv6Prefix: '56' }
const json = { ...flags, json: true }

async function inspected(key: string, given = flags): Promise<string> {
  const io = fakeTerminal(false)
  expect(await inspectCommand(key, given, connection, io)).toBe(0)
  return io.out()
}

async function changed(change: Change, key: string, given: ChangeFlags, io = fakeTerminal(false)) {
  const code = await changeCommand(change, key, given, connection, io)
  return { code, out: io.out(), err: io.err() }
}

const reset: Change = { action: 'reset' }
const unblock: Change = { action: 'unblock' }
const yes = { ...flags, yes: true }

/** A line end is the only one that may come out. */
const OBEYED = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

describe('sluice inspect', () => {
  it('shows every policy of a client in words', async () => {
    const limiter = limiterOf()
    await limiter.consume('203.0.113.7', { cost: 18 })
    const lines = (await inspected('203.0.113.7')).trimEnd().split('\n')
    expect(lines).toEqual([
      '203.0.113.7',
      expect.stringMatching(
        /^ {2}sluice day: 100 per 1 d {3}18 used, 82 left \(18 %\), unused in \d/,
      ),
      expect.stringMatching(
        /^ {2}sluice burst: 20 per 1 d {2}18 used, 2 left \(90 %\), unused in 3 d/,
      ),
    ])
  })

  it('and as JSON', async () => {
    await limiterOf().consume('client', { cost: 18 })
    const { key, entries } = JSON.parse(await inspected('client', json))
    expect(key).toBe('client')
    expect(entries).toMatchObject([
      { policy: 'day', limit: 100, used: 18, remaining: 82, share: 0.18, standing: 'counting' },
      { policy: 'burst', algorithm: 'token-bucket', limit: 20, used: 18, share: 0.9 },
    ])
  })

  it('finds an address however it is written, and a digest by its original', async () => {
    const limiter = limiterOf()
    const long = 'x'.repeat(1000)
    for (const key of ['2001:db8:1:200::/56', 'a b', long]) await limiter.consume(key)
    for (const key of ['2001:db8:1:2ff::9', '2001:DB8:1:200::1', 'a b', long])
      expect(await inspected(key)).toContain('1 used')
  })

  it('says what is unused of a client that nothing is counted of', async () => {
    await limiterOf().consume('client')
    expect(await inspected('nobody')).toBe(
      'nobody: nothing is counted under the prefix sluice: unused in burst and day\n',
    )
    expect(JSON.parse(await inspected('nobody', json))).toEqual({
      key: 'nobody',
      entries: [],
      networks: [],
    })
  })

  it.each([
    ['the store is empty', {}],
    ['the prefix is wrong', { prefix: 'other' }],
    ['there is no such policy', { policy: 'hour' }],
  ])('calls nothing unused where no limiter has counted: %s', async (_, other) => {
    if (Object.keys(other).length > 0) await limiterOf().consume('client')
    for (const given of [flags, json]) {
      const io = fakeTerminal(false)
      expect(await inspectCommand('client', { ...given, ...other }, connection, io)).toBe(1)
      expect(io.out()).not.toContain('unused')
    }
    for (const change of [reset, unblock, blockFor('1h'), limitTo('5', {})])
      expect(await changed(change, 'client', { ...yes, ...other })).toMatchObject({
        code: 1,
        out: expect.stringMatching(/^nothing to/),
      })
  })

  it('writes nothing that a terminal obeys, whatever the client is called', async () => {
    const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp\r\n'
    await limiterOf().consume(evil)
    for (const given of [flags, json]) {
      const out = await inspected(evil, given)
      expect(out).not.toMatch(OBEYED)
      expect(out).toMatch(/\\u001b/)
    }
  })
})

describe('a client in shards', () => {
  const inAcme = '{acme}2001:db8:1:200::/56'
  const one = '{acme}2001:db8:1:2ff::9'
  beforeEach(async () => {
    for (const key of [inAcme, '{ada}user:42', '{eve co}user:42']) await limiterOf().consume(key)
  })

  it('is found with its shard or without, and named', async () => {
    expect(await inspected(one)).toContain('  sluice day: 100')
    expect(await inspected('2001:db8:1:200::1')).toContain(`  sluice ${inAcme} day: 100`)
    const out = await inspected('user:42')
    expect(out).toContain('{ada}user:42 day: 100')
    expect(out.match(/user:42 day/g)).toHaveLength(2)
  })

  it.each([reset, unblock, limitTo(undefined, { ...flags, end: true })])(
    'is not changed without its shard: %j',
    async (change) => {
      await limiterOf().override('{ada}user:42', { policy: 'day', limit: 9 })
      await limiterOf().block('{ada}user:42', '1h')
      await expect(changed(change, 'user:42', yes)).rejects.toThrow(
        /user:42 has keys in a shard: write .*'{ada}user:42'/,
      )
      expect((await changed(change, '{ada}user:42', yes)).out).toContain('done: ')
      expect((await changed(change, '{ada}user:42', yes)).out).toMatch(
        change.action === 'unlimit'
          ? 'nothing to end'
          : change.action === 'reset'
            ? 'done'
            : 'nothing to unblock',
      )
    },
  )

  it('a block or a limit that names none says that others have one', async () => {
    const block = blockFor('1h')
    const hint = /^keys are in shards here: .* '\{shard\}user:7'$/m
    expect((await changed(block, 'user:7', yes)).err).toMatch(hint)
    expect((await changed(block, one, yes)).err).toBe('')
    expect(await limiterOf().peek(inAcme)).toMatchObject({ allowed: false })
    expect(await limiterOf().peek('{ada}user:42')).toMatchObject({ allowed: true })
  })
})

describe('a network', () => {
  const block = blockFor('1h')
  const limited = (key: string) => limiterOf().consume(key)

  it('is blocked by every limiter under the prefix, shown, and unblocked', async () => {
    await limited('203.0.113.7')
    const { code, out } = await changed(block, '203.0.113.9/24', yes)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^done: block the network 203\.0\.113\.0\/24 for 1 h in every limiter \(prefix sluice\), until /,
      ),
    ])
    // The first request asks for the networks, and does not wait for them.
    await until(async () => !(await limited('203.0.113.7')).allowed, { what: 'it is refused' })
    expect((await limited('203.0.114.7')).allowed).toBe(true)

    expect(await inspected('203.0.113.7')).toMatch(
      /in 203\.0\.113\.0\/24, blocked for (59|1 h).*, until 2/,
    )
    expect(await inspected('203.0.113.0/24')).toMatch(/^203\.0\.113\.0\/24\n {2}in 203/)
    expect(await inspected('198.51.100.0/24')).toContain('is in no blocked network')
    expect(JSON.parse(await inspected('203.0.113.7', json)).networks).toMatchObject([
      { network: '203.0.113.0/24' },
    ])
    const io = fakeTerminal(false)
    const top: TopFlags = { prefix: 'sluice', count: '20', every: '2s', sort: 'share', once: true }
    await topCommand(top, connection, io, new AbortController().signal)
    expect(io.out()).toMatch(/^1 network blocked: 203\.0\.113\.0\/24 until 2/m)
    expect(io.out()).toMatch(/^203\.0\.113\.7 .*its network is blocked until 2[^;]* UTC; 1 used, /m)
    expect(io.out()).toMatch(/^203\.0\.114\.7 .* {2}1 used, /m)

    const ofOne = await changed(unblock, '203.0.113.7', yes)
    expect(ofOne.out).toContain('but it is in the blocked 203.0.113.0/24')
    const other = await changed(unblock, '203.0.113.0/25', yes)
    expect(other.out).toContain('the network 203.0.113.0/25 is not blocked')
    const ended = await changed(unblock, '203.0.113.0/24', { ...json, yes: true })
    expect(JSON.parse(ended.out)).toEqual({
      key: '203.0.113.0/24',
      action: 'unblock',
      changed: [{ prefix: 'sluice', network: '203.0.113.0/24' }],
    })
    expect(await inspected('203.0.113.0/24')).toContain('is in no blocked network')
  })

  it('of IPv6 that is as long as --ipv6-prefix is the key of a client', async () => {
    await limited('2001:db8:1:200::/56')
    const { out } = await changed(block, '2001:db8:1:200::/56', yes)
    expect(out).toContain('block 2001:db8:1:200::/56 for 1 h in')
    expect((await changed(block, '2001:db8:1:200::/48', yes)).out).toContain(
      'the network 2001:db8:1::/48',
    )
    expect(await inspected('2001:db8:1:200::1')).toContain('in 2001:db8:1::/48')
  })

  it.each(['0.0.0.0/0', '::/0', '10.0.0.0/7', '203.0.113.0/33', '2001::/15'])(
    '%s is refused, and not taken for a key',
    async (text) => {
      await expect(changed(block, text, yes)).rejects.toMatchObject({ code: 'SLUICE_CIDR' })
    },
  )

  it('is asked about first, and has no policy', async () => {
    await expect(changed(block, '203.0.113.0/24', flags)).rejects.toThrow('add --yes')
    const ofPolicy = { ...yes, policy: 'day' }
    await expect(changed(block, '203.0.113.0/24', ofPolicy)).rejects.toThrow('leave --policy out')
    expect(await inspected('203.0.113.0/24')).toContain('is in no blocked network')
  })
})

describe('a list of networks in standard input', () => {
  const block = blockFor('1h')
  const list = (change: Change, text: string, given: ChangeFlags = yes) => {
    const io = fakeTerminal(false)
    io.stdin.end(text)
    return changed(change, '-', given, io)
  }

  it('is blocked in one step, and unblocked', async () => {
    const text = '203.0.113.9/24 # one\n\n2001:db8::/32\r\n# none\n198.51.100.7\n203.0.113.0/24\n'
    const blocked = await list(block, text)
    expect([blocked.code, blocked.out]).toEqual([
      0,
      expect.stringMatching(
        /^done: block 3 networks \(203\.0\.113\.0\/24, 2001:db8::\/32 and 198\.51\.100\.7\/32\) for 1 h in every limiter/,
      ),
    ])
    expect(await inspected('2001:db8::1')).toContain('in 2001:db8::/32')
    const ended = await list(unblock, '203.0.113.0/24\n192.0.2.0/24\n', { ...json, yes: true })
    expect(JSON.parse(ended.out)).toEqual({
      action: 'unblock',
      changed: [{ prefix: 'sluice', network: '203.0.113.0/24' }],
    })
    const again = await list(unblock, '203.0.113.0/24\n192.0.2.0/24\n')
    expect(again.out).toContain('nothing to unblock: 2 networks')
  })

  it('of 10,000 is one write; of one more, nothing is blocked', async () => {
    const networks = Array.from({ length: 10_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
    await redis.command('CONFIG', 'RESETSTAT')
    expect((await list(block, networks.join('\n'))).out).toContain('and 9997 more')
    expect(await redis.command('INFO', 'commandstats')).toMatch(/cmdstat_set:calls=1,/)
    await expect(list(block, '203.0.113.0/24')).rejects.toMatchObject({
      code: 'SLUICE_NETWORKS_FULL',
    })
    expect(await inspected('203.0.113.0/24')).toContain('is in no blocked network')
  })

  it.each([
    [
      'a line that is none',
      '203.0.113.0/24\nuser:42\n',
      yes,
      /line 2 of the list: expected a network.*'user:42'/,
    ],
    ['nothing', '\n', yes, /expected networks/],
    ['no --yes', '203.0.113.0/24', flags, /add --yes, as standard input is the list/],
    ['a text without end', '1'.repeat(1_000_001), yes, /more than 1000000 characters/],
  ])('%s is refused', async (_, text, given, message) => {
    await expect(list(block, text, given)).rejects.toThrow(message)
    expect(await inspected('203.0.113.0/24')).toContain('is in no blocked network')
  })
})

describe('sluice limit', () => {
  it('gives a client its own limit in one policy, shows it, and ends it', async () => {
    const limiter = limiterOf()
    await limiter.consume('client', { cost: 18 })
    await expect(changed(limitTo('500', {} as LimitFlags), 'client', yes)).rejects.toThrow(
      '--policy',
    )
    const given = { ...yes, policy: 'day' }
    const month = limitTo('500', { ...flags, for: '30d' })
    const set = await changed(month, 'client', given)
    expect(set.out).toMatch(/^done: limit client to 500 for 30 d in day \(1 key,.*, until 2/)
    expect((await limiter.peek('client')).policies[1]).toMatchObject({ limit: 500, remaining: 482 })
    expect(await inspected('client')).toMatch(
      /day: 500 per 1 d \(own limit until 2.*\) +18 used, 482 left/,
    )
    const { out } = await changed(limitTo(undefined, { ...flags, end: true }), 'client', yes)
    expect(out).toMatch(/^done: end the own limit of client in day/)
    expect((await limiter.peek('client')).policies[1]).toMatchObject({ limit: 100, remaining: 82 })
    const again = await changed(limitTo(undefined, { ...flags, end: true }), 'client', yes)
    expect(again.out).toContain('nothing to end')
  })

  it('leaves the ban of a client as it is', async () => {
    const ban = { after: 1, within: '1h', for: ['30m'] }
    const limiter = limiterOf({ name: 'api', limit: 1, window: '1d', ban })
    for (let i = 0; i < 3; i += 1) await limiter.consume('client')
    const { out } = await changed(limitTo('500', {}), 'client', yes)
    expect(out).toMatch(/^done: limit client to 500 in default \(1 key,/)
    expect((await limiter.peek('client')).ban?.endsMs).toBeGreaterThan(0)
    const asJson = await changed(limitTo('500', {}), 'client', { ...yes, json: true })
    expect(JSON.parse(asJson.out).usage).toMatchObject([{ policy: 'default', limit: 500 }])
  })

  it('says as JSON what the client may use now, in the words of usage()', async () => {
    const limiter = limiterOf()
    await limiter.consume('client', { cost: 18 })
    const given = { ...yes, json: true, policy: 'day' }
    const { out } = await changed(limitTo('500', {} as LimitFlags), 'client', given)
    const { usage } = JSON.parse(out) as { usage: { policy: string }[] }
    expect(usage.find(({ policy }) => policy === 'day')).toEqual({
      policy: 'day',
      limit: 500,
      used: 18,
      remaining: 482,
      resetsAt: expect.stringMatching(/^\d{4}-.*Z$/),
      windowMs: 86_400_000,
    })
  })

  it('a bucket keeps its burst, and a client may have no state', async () => {
    const limiter = limiterOf()
    await limiter.consume('other')
    const given = { ...yes, policy: 'burst' }
    await changed(limitTo('86400', {}), 'client', given)
    await limiter.consume('client', { cost: 20 })
    const [burst] = (await limiter.peek('client')).policies
    expect([burst?.limit, burst?.windowMs]).toEqual([20, 20_000])
  })

  it('takes units or --end', () => {
    for (const [units, given] of [
      [undefined, {}],
      ['x', {}],
      ['1.5', {}],
      ['5', { end: true }],
      [undefined, { end: true, for: '1d' }],
    ] as const) {
      expect(() => limitTo(units, given)).toThrow(/expected|--end/)
    }
    expect(() => limitTo('5', { ...flags, for: 'x' })).toThrow('--for')
  })
})

describe('the clock of the store', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it.each([-600_000, 600_000])(
    'says until when, with that of the operator %i ms off',
    async (ms) => {
      await limiterOf().consume('client')
      const now = Date.now
      jest.spyOn(Date, 'now').mockImplementation(() => now() + ms)
      const asJson = { ...yes, json: true }
      const limit = limitTo('500', { ...flags, for: '5m' })
      for (const [change, of, forMs] of [
        [limit, 'client', 300_000],
        [blockFor('1h'), 'client', 3_600_000],
        [blockFor('1h'), '203.0.113.0/24', 3_600_000],
      ] as const) {
        const before = now()
        const given = change === limit ? { ...asJson, policy: 'day' } : asJson
        const { code, out } = await changed(change, of, given)
        const { until } = JSON.parse(out) as { until: number }
        expect(code).toBe(0)
        expect(until).toBeGreaterThanOrEqual(before + forMs)
        expect(until).toBeLessThanOrEqual(now() + forMs)
        if (change !== limit) continue
        expect((await limiterOf().peek('client')).policies[1]).toMatchObject({ limit: 500 })
      }
      const top = { prefix: 'sluice', count: '9', every: '2s', sort: 'share', once: true } as const
      const io = fakeTerminal(false)
      const { signal } = new AbortController()
      await topCommand({ ...top, json: true }, connection, io, signal)
      const { at, networks } = JSON.parse(io.out())
      for (const each of [at, networks[0].until - 3_600_000])
        expect(Math.abs(each - now())).toBeLessThan(60_000)
      const [day = ''] = /\d{4}-\d\d-\d\d \d\d:\d\d/.exec(await inspected('203.0.113.0/24')) ?? []
      expect(Date.parse(`${day}Z`)).toBeLessThan(now() + 3_600_000)
      expect(Date.parse(`${day}Z`)).toBeGreaterThan(now() + 3_500_000)
    },
  )
})

describe('a change', () => {
  it('leaves what limiters have noted: which policies are live, and their limits', async () => {
    const limiter = limiterOf({ name: 'api', limit: 9, window: '1h', live: true })
    await limiter.consume('client')
    const control = policyControl(sharedDocumentsOf(connection.store, 'sluice'))
    await until(async () => (await control.list()).length === 1, { what: 'the policy is noted' })
    await control.set('api', { limit: 7 })
    for (const change of [blockFor('1h'), reset, limitTo('5', {}), reset]) {
      // Each time a command of its own.
      const own = await connect({ redis: redis.url })
      const io = fakeTerminal(false)
      expect(await changeCommand(change, 'client', yes, own, io)).toBe(0)
      await control.list()
      own.close()
    }
    expect(await control.list()).toMatchObject([{ name: 'api', codeLimit: 9, limit: 7 }])
    await limiter.consume('other')
    expect(await inspected('other')).toContain('default: 7 per 1 h')
    limiter.close()
  })

  it('is confirmed by what the store shows then', async () => {
    await limiterOf().consume('client')
    const { store } = connection
    const forgetful = Object.create(store, {
      open: { value: () => ({ change: async () => undefined }) },
      documents: { value: { ...store.documents, replace: async () => true } },
    })
    const own = { ...connection, store: forgetful }
    for (const [change, of] of [
      [blockFor('1h'), 'client'],
      [limitTo('5', {}), 'client'],
      [blockFor('1h'), '203.0.113.0/24'],
    ] as const) {
      const io = fakeTerminal(false)
      const given = { ...yes, policy: change.action === 'limit' ? 'day' : undefined }
      await expect(changeCommand(change, of, given as ChangeFlags, own, io)).rejects.toThrow(
        /the store does not show it/,
      )
      expect(io.out()).not.toContain('done')
    }
  })

  it('of one client reads no names of other keys', async () => {
    const limiter = limiterOf()
    for (let i = 0; i < 50; i += 1) await limiter.consume(`client-${i}`)
    await redis.command('CONFIG', 'RESETSTAT')
    for (const change of [blockFor('1h'), unblock, reset, limitTo('5', {})])
      await changed(change, 'client-7', { ...yes, policy: 'day' })
    await inspected('client-7')
    expect(await redis.commandStats()).not.toHaveProperty('scan')
  })
})

describe('sluice reset, block and unblock', () => {
  it('reset makes every quota full, of this client alone', async () => {
    const limiter = limiterOf()
    for (const key of ['client', 'other']) await limiter.consume(key, { cost: 20 })
    const { code, out } = await changed(reset, 'client', yes)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^done: reset client in (burst and day|day and burst) \(2 keys, prefix sluice\)\n$/,
      ),
    ])
    expect((await limiterOf().peek('client')).remaining).toBe(20)
    expect((await limiterOf().peek('other')).remaining).toBe(0)
  })

  it('reset ends bans, and frees the slots of requests that hang', async () => {
    const banning = { limit: 1, window: '1d', ban: { after: 1, within: '1h', for: ['1h'] } }
    const limiter = limiterOf({ ...banning, refusalCache: false })
    await limiter.consume('client')
    await limiter.consume('client')
    const slots = limiterOf({ concurrent: 1, hold: '1h' })
    await slots.acquire('client')
    await changed(reset, 'client', yes)
    expect((await limiter.consume('client')).allowed).toBe(true)
    expect((await slots.acquire('client')).allowed).toBe(true)
    limiter.close()
    slots.close()
  })

  it('block refuses a client in every policy, also one that was never seen', async () => {
    await limiterOf().consume('anybody')
    const { code, out } = await changed(blockFor('1h'), '203.0.113.7', { ...yes, json: true })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ key: '203.0.113.7', action: 'block' })
    expect(JSON.parse(out).changed).toHaveLength(2)
    const refused = await limiterOf().consume('203.0.113.7')
    expect(refused.allowed).toBe(false)
    expect(refused.retryAfterMs).toBeGreaterThan(3_000_000)
    expect((await limiterOf().consume('anybody')).allowed).toBe(true)
    expect(await inspected('203.0.113.7')).toContain('blocked for 59 min')
  })

  it('unblock ends what was blocked or banned, and leaves what is counted', async () => {
    const limiter = limiterOf()
    await limiter.consume('client', { cost: 3 })
    await changed(blockFor('1h'), 'client', { ...yes, policy: 'burst' })
    expect((await limiter.peek('client')).policies.map(({ remaining }) => remaining)).toEqual([
      0, 97,
    ])
    expect((await changed(unblock, 'client', yes)).code).toBe(0)
    expect((await limiterOf().peek('client')).policies.map(({ remaining }) => remaining)).toEqual([
      20, 97,
    ])
    expect((await changed(unblock, 'client', yes)).out).toContain('neither blocked nor banned')
  })

  it('does nothing under a prefix that has no keys', async () => {
    await limiterOf().consume('client')
    const other = { ...yes, prefix: 'other' }
    expect(await changed(blockFor('1h'), 'client', other)).toMatchObject({
      code: 1,
      out: expect.stringContaining('Is the prefix right?'),
    })
    expect(await changed(reset, 'client', other)).toMatchObject({ code: 1 })
    expect((await limiterOf().peek('client')).policies[1]?.remaining).toBe(99)
  })

  it.each([
    ['y', 20],
    ['YES', 20],
    ['n', 15],
    ['', 15],
    ['yesterday', 15],
  ])('asks first: %j', async (answer, remaining) => {
    await limiterOf().consume('client', { cost: 5 })
    const io = fakeTerminal(true)
    io.stdin.write(`${answer}\n`)
    const { code, err } = await changed(reset, 'client', flags, io)
    expect(err).toContain('reset client in')
    expect(code).toBe(remaining === 20 ? 0 : 1)
    expect((await limiterOf().peek('client')).remaining).toBe(remaining)
  })

  it('takes the end of the input for a no', async () => {
    await limiterOf().consume('client', { cost: 5 })
    const io = fakeTerminal(true)
    io.stdin.end()
    expect(await changed(reset, 'client', flags, io)).toMatchObject({ code: 1 })
    expect((await limiterOf().peek('client')).remaining).toBe(15)
  })

  it('refuses without a terminal and without --yes', async () => {
    await limiterOf().consume('client', { cost: 5 })
    for (const [change, io] of [
      [reset, fakeTerminal(false)],
      [blockFor('1h'), fakeTerminal(false)],
      [unblock, fakeTerminal(false)],
    ] as const)
      await expect(changed(change, 'client', flags, io)).rejects.toThrow(/add --yes/)
    await expect(changed(reset, 'client', json, fakeTerminal(true))).rejects.toThrow(/add --yes/)
    expect((await limiterOf().peek('client')).remaining).toBe(15)
  })

  it('shows the name of a client as text when it asks', async () => {
    const evil = '\u001b[2Jname'
    await limiterOf().consume(evil)
    const io = fakeTerminal(false)
    Object.assign(io.stdin, { isTTY: true })
    io.stdin.write('n\n')
    const { err } = await changed(reset, evil, flags, io)
    expect(err).toContain('\\u001b[2Jname')
    expect(err).not.toMatch(OBEYED)
  })

  it.each(['', '1', '0s', '100y', '-1h', 'soon'])('refuses to block for %j', (text) => {
    expect(() => blockFor(text)).toThrow(expect.objectContaining({ name: 'SluiceError' }))
  })

  it('finds the keyspaces of routes with options of their own', async () => {
    await limiterOf({ limit: 5, window: '1d', prefix: 'sluice.0123abcd' }).consume('anybody')
    const { keyspaces } = await keyspacesFor(connection.store, blockFor('1h'), 'client', {
      prefix: 'sluice',
    })
    expect(keyspaces).toMatchObject([{ prefix: 'sluice.0123abcd', policy: 'default' }])
  })
})

describe('the permissions that docs/operations.md lists', () => {
  const page = readFileSync(join(__dirname, '../../../../docs/operations.md'), 'utf8')
  const [read = '', write = ''] = ['top', 'reset'].map((command) => {
    const row = new RegExp(`^\\| \`${command}\`, [^|]*\\| (?:also )?\`([^\`]+)\` \\|`, 'm')
    return row.exec(page)?.[1]
  })

  async function asUser(name: string, rules: string, run: (own: Connection) => Promise<unknown>) {
    await redis.command('ACL', 'SETUSER', name, 'reset', 'on', '>secret', ...rules.split(' '))
    const own = await connect({ redis: `redis://${name}:secret@127.0.0.1:${redis.port}` })
    await run(own).finally(() => own.close())
  }

  it('are enough to read, and not to change anything', async () => {
    await limiterOf().consume('client', { cost: 5 })
    await asUser('reader', read, async (own) => {
      const io = fakeTerminal(false)
      await inspectCommand('client', flags, own, io)
      expect(io.out()).toContain('5 used')
      expect(await own.health()).toHaveLength(1)
      for (const change of [reset, blockFor('1h')])
        await expect(changeCommand(change, 'client', yes, own, io)).rejects.toThrow(/ACL/)
    })
    expect((await limiterOf().peek('client')).remaining).toBe(15)
  })

  it('and with the others to change it', async () => {
    await limiterOf().consume('client', { cost: 5 })
    await asUser('operator', `${read} ${write}`, async (own) => {
      for (const change of [blockFor('1h'), unblock, reset])
        await changeCommand(change, 'client', yes, own, fakeTerminal(false))
    })
    expect((await limiterOf().peek('client')).remaining).toBe(20)
  })
})

describe('sluice top', () => {
  const top: TopFlags = { prefix: 'sluice', count: '10', every: '100ms', sort: 'share' }
  const never = new AbortController().signal

  async function once(given: Partial<TopFlags>): Promise<string> {
    const io = fakeTerminal(false)
    expect(await topCommand({ ...top, once: true, ...given }, connection, io, never)).toBe(0)
    return io.out()
  }

  beforeEach(async () => {
    const limiter = limiterOf()
    for (let i = 1; i <= 20; i += 1) await limiter.consume(`client-${i}`, { cost: i })
  })

  it('prints lines where there is no terminal', async () => {
    const lines = (await once({ policy: 'burst', count: '2' })).trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d UTC {3}20 keys, 1 at their limit, 4 near it, 0 banned, 0 blocked/,
      ),
      expect.stringMatching(/^client {4,}policy {2,}used {3}per second {2}standing$/),
      expect.stringMatching(
        /^client-20 {2}burst: 20 per 1 d {2}100 % {2}- {11}20 used, 0 left \(100 %\), unused in 3 d 23 h$/,
      ),
      expect.stringMatching(/^client-19 {2}burst: 20 per 1 d {2}95 % /),
    ])
  })

  it('shows within a second or two what it has read so far, before the complete list', async () => {
    const { store } = connection
    let isEnough = false
    const slow = {
      mode: 'async',
      async *inspect(options: InspectOptions) {
        yield* store.inspect(options)
        // As a store with a million keys: there is always one step more.
        while (!isEnough) {
          options.onProgress?.({ looked: 20, unreadable: [] })
          await setImmediate()
        }
      },
    } as unknown as Connection['store']
    const io = fakeTerminal(false)
    const given = { ...top, policy: 'burst', count: '2', once: true }
    const running = topCommand(given, { ...connection, store: slow }, io, never)
    const asJson = fakeTerminal(false)
    const machine = topCommand(
      { ...given, json: true },
      { ...connection, store: slow },
      asJson,
      never,
    )
    await until(async () => /^client-20 /m.test(io.out()), { what: 'the first list' })
    expect(io.out()).toMatch(/UTC {3}20 keys, .*reading for 1 s.*, looked at \d+ so far$/m)
    await until(async () => asJson.err() !== '', { what: 'a program waits for the complete list' })
    expect([asJson.err(), asJson.out()]).toEqual([expect.stringMatching(/^reading: \d+ keys/), ''])
    isEnough = true
    expect(await running).toBe(0)
    expect(await machine).toBe(0)
    expect(io.out().match(/^client-20 /gm)).toHaveLength(2)
    expect(io.out().match(/read in /g)).toHaveLength(1)
    expect(JSON.parse(asJson.out())).toMatchObject({ isComplete: true, keys: 20 })
  })

  it('keeps the last complete table on the screen until the next one is complete', async () => {
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    let readings = 0
    const slow = Object.create(connection.store, {
      inspect: {
        async *value(options: InspectOptions) {
          yield* connection.store.inspect(options)
          // Longer than a second: what has been read so far is given.
          passed += 2000
          options.onProgress?.({ looked: 7, unreadable: [] })
          readings += 1
        },
      },
    })
    const io = fakeTerminal(true)
    const quit = new AbortController()
    const ended = topCommand(top, { ...connection, store: slow }, io, quit.signal)
    await until(() => readings === 3, { what: 'three readings' })
    quit.abort()
    await ended
    clock.mockRestore()
    expect(io.out().match(/looked at 7 so far/g)).toHaveLength(1)
  })

  it('prints a line of JSON for each reading', async () => {
    const { keys, top: rows } = JSON.parse(await once({ json: true, count: '1', sort: 'used' }))
    expect(keys).toBe(40)
    expect(rows).toMatchObject([{ key: 'client-20', used: 20, standing: 'exhausted' }])
  })

  it('draws a table again and again, sorts and pauses by a key, and leaves the terminal as it was', async () => {
    const io = fakeTerminal(true)
    const running = topCommand({ ...top, policy: 'burst' }, connection, io, never)
    await io.shows(/client-20/)
    expect(io.stdin.isRaw).toBe(true)
    expect(io.out()).toContain('\u001b[?1049h')
    await limiterOf().block('client-1', '1h')
    await io.shows(/1 blocked/)
    io.stdin.write('s')
    await io.shows(/by used/)
    io.stdin.write('p')
    await io.shows(/paused/)
    io.stdin.write('q')
    expect(await running).toBe(0)
    expect(io.out().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true)
    expect(io.stdin.isRaw).toBe(false)
    // No line is wider than the terminal, and no drawing higher.
    const drawings = io.out().split('\u001b[H').slice(1)
    for (const drawing of drawings) {
      const lines = stripVTControlCharacters(drawing).split('\r\n')
      expect(lines.length).toBeLessThanOrEqual(12)
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120)
    }
  })

  it('ends by Ctrl-C, and by a signal', async () => {
    const io = fakeTerminal(true)
    const running = topCommand(top, connection, io, never)
    io.stdin.write('\u0003')
    expect(await running).toBe(0)
    const interrupt = new AbortController()
    const plain = fakeTerminal(false)
    const other = topCommand({ ...top, every: '1h' }, connection, plain, interrupt.signal)
    await plain.shows(/client-20/)
    interrupt.abort()
    expect(await other).toBe(0)
  })

  it('shows that it is not up to date while the store fails, and goes on when it is back', async () => {
    const down = await startRedis()
    const own = await connect({ redis: down.url })
    const io = fakeTerminal(true)
    const running = topCommand(top, own, io, never)
    await io.shows(/0 keys/)
    await down.kill()
    await io.shows(/not up to date: /)
    const before = io.out().length
    await down.restart()
    await until(
      async () => /0 keys[^\r]*\r\n\r\n/.test(stripVTControlCharacters(io.out().slice(before))),
      {
        everyMs: 20,
        what: 'it is up to date again',
      },
    )
    io.stdin.write('q')
    expect(await running).toBe(0)
    own.close()
    await down.stop()
  })

  it.each([
    [{ count: '0' }],
    [{ count: '1001' }],
    [{ count: '1.5' }],
    [{ every: '1ms' }],
    [{ every: 'often' }],
    [{ prefix: '*' }],
  ])('refuses %j', async (wrong) => {
    await expect(once(wrong)).rejects.toThrow(/expected/i)
  })
})
