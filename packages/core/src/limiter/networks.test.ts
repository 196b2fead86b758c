import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { WaitError } from '../errors/wait-error.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Documents, Store } from '../stores/store.ts'
import { type ManualClock, manualClock } from '../testing/manual-clock.ts'
import { reset } from '../testing/reset.ts'
import { createLimiter } from './create-limiter.ts'
import type { Decision } from './decision.ts'
import type { Limiter } from './limiter.ts'
import type { LimiterOptions } from './limiter-options.generated.ts'

const VERSION = 'a'.repeat(16)
const network = { network: true } as const
const error = (code: string) => expect.objectContaining({ code })

describe('in this process', () => {
  let clock: ManualClock
  let limiter: Limiter<'sync'>
  beforeEach(() => {
    clock = manualClock()
    limiter = createLimiter({ store: memoryStore({ clock }), limit: 5, window: '1h' })
  })
  const isRefused = (key: string, options = {}) => !limiter.peek(key, options).allowed

  test('refuses as a blocked key is refused', () => {
    const policies = [
      { name: 'burst', limit: 5, window: '1s' },
      { name: 'day', limit: 100, window: '1d' },
    ] as const
    const both = createLimiter({ store: memoryStore({ clock }), policies })
    both.block('203.0.113.7', '1h')
    const asKey = both.consume('203.0.113.7')
    both.reset('203.0.113.7')
    both.block('203.0.113.0/24', '1h', network)
    expect(both.consume('203.0.113.7')).toEqual(asKey)
    expect(asKey).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 3_600_000 })
  })

  test.each([
    ['dry runs only', [{ name: 'new', limit: 5, window: '1h', dryRun: true }]],
    [
      'one beside another policy',
      [
        { name: 'new', limit: 5, window: '1h', dryRun: true },
        { name: 'old', limit: 9, window: '1h' },
      ],
    ],
  ] as const)('is to dry runs what a block of the client is: %s', (_, policies) => {
    const looks = createLimiter({ store: memoryStore({ clock }), policies })
    looks.block('203.0.113.7', '1h')
    const asKey = looks.consume('203.0.113.7')
    looks.reset('203.0.113.7')
    looks.block('203.0.113.0/24', '1h', network)
    expect(looks.consume('203.0.113.7')).toEqual(asKey)
    expect(looks.peek('203.0.113.7')).toEqual(asKey)
    expect(asKey.allowed).toBe(policies.length === 1)
  })

  test.each([
    [
      '203.0.113.0/24',
      ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.1', '64:ff9b::203.0.113.1'],
    ],
    ['::ffff:203.0.113.0/120', ['203.0.113.9']],
    ['203.0.113.7', ['203.0.113.7']],
    ['203.0.113.9/24', ['203.0.113.1', '203.0.113.0/24', '203.0.113.128/25']],
    ['192.0.2.0/24', ['2002:c000:204::1', '2001:0:c633:6401:0:a1b2:3fff:fdfb']],
    ['192.0.2.4', ['2002:c000:204::/48', '2002:c000:204:a00::/56']],
    ['2001:db8::/32', ['2001:db8::1', '2001:DB8:ffff::1', '2001:db8:1:200::/56', '2001:db8::/32']],
  ])('%s refuses %j', (text, keys) => {
    limiter.block(text, '1h', network)
    expect(keys.filter((key) => !isRefused(key))).toEqual([])
    limiter.reset(text, network)
    expect(keys.filter((key) => isRefused(key))).toEqual([])
  })

  test('a list is blocked and unblocked in one step, or nothing of it', () => {
    const list = ['203.0.113.0/24', '2001:db8::/32', '203.0.113.9/24'] as const
    limiter.block(list, '1h', network)
    expect(['203.0.113.7', '2001:db8::1'].map((key) => isRefused(key))).toEqual([true, true])
    limiter.reset(list, network)
    expect(['203.0.113.7', '2001:db8::1'].map((key) => isRefused(key))).toEqual([false, false])
    const wrong = ['203.0.113.0/24', '203.0.113.0/33']
    expect(() => limiter.block(wrong, '1h', network)).toThrow(error('SLUICE_CIDR'))
    const many = Array.from({ length: 10_001 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
    expect(() => limiter.block(many, '1h', network)).toThrow(error('SLUICE_NETWORKS_FULL'))
    expect(isRefused('10.0.0.1')).toBe(false)
  })

  test('a list without the option is no key', () => {
    const list: unknown = ['203.0.113.0/24']
    expect(() => limiter.block(list as string, '1h')).toThrow(error('SLUICE_KEY'))
    expect(() => limiter.reset(list as string)).toThrow(error('SLUICE_KEY'))
  })

  test('other keys stay as they are: other networks, larger ones, and names', () => {
    limiter.block('203.0.113.0/24', '1h', network)
    limiter.block('2001:db8:1:200::/64', '1h', network)
    const others = ['203.0.112.255', '203.0.114.0', '203.0.112.0/23', '2001:db8:1:200::/56']
    const names = [
      'user:203.0.113.7',
      'key:203.0.113.7',
      ' 203.0.113.7',
      '203.0.113.7:80',
      '203.0.113',
    ]
    expect([...others, ...names].filter((key) => isRefused(key))).toEqual([])
  })

  test('an address that is given counts in place of the key', () => {
    limiter.block('203.0.113.0/24', '1h', network)
    expect(isRefused('ada', { address: '203.0.113.7' })).toBe(true)
    expect(isRefused('ada', { address: '[::ffff:203.0.113.7]:443' })).toBe(true)
    expect(isRefused('203.0.113.7', { address: '198.51.100.1' })).toBe(false)
    expect(isRefused('203.0.113.7', { address: 'unknown' })).toBe(false)
    expect(limiter.consume('ada', { address: '203.0.113.7' }).allowed).toBe(false)
  })

  test.each<[string, object, (each: Limiter, address: string) => unknown]>([
    [
      'takeTurn',
      { algorithm: 'leaky-bucket' },
      (each, address) => each.takeTurn('ada', { address }),
    ],
    ['wait', {}, (each, address) => each.wait('ada', { address, maxWait: 0 })],
    ['acquire', { reserve: true }, (each, address) => each.acquire('ada', { address })],
    [
      'acquire with maxWait',
      { reserve: true },
      (each, address) => each.acquire('ada', { address, maxWait: 0 }),
    ],
  ])('an address that is given to %s counts too', async (_, options, act) => {
    const each = createLimiter({
      store: memoryStore({ clock }),
      limit: 5,
      window: '1h',
      ...options,
    } as LimiterOptions<'sync'>)
    each.block('203.0.113.0/24', '1h', network)
    const isAdmitted = async (address: string) => {
      const decided = (await Promise.resolve(act(each, address)).catch(
        (error: unknown) => error,
      )) as Decision | WaitError
      return decided instanceof WaitError ? decided.code : decided.allowed
    }
    expect(await isAdmitted('203.0.114.7')).toBe(true)
    expect([false, 'SLUICE_WAIT_TOO_LONG']).toContain(await isAdmitted('203.0.113.7'))
    each.close()
  })

  test('the longest of overlapping blocks holds, and each ends by itself', () => {
    limiter.block('203.0.0.0/16', '1m', network)
    limiter.block('203.0.113.0/24', '2m', network)
    limiter.block('203.0.113.7/32', '1s', network)
    expect(limiter.peek('203.0.113.7').retryAfterMs).toBe(120_000)
    expect(limiter.peek('203.0.1.1').retryAfterMs).toBe(60_000)
    limiter.reset('203.0.113.0/24', network)
    expect(limiter.peek('203.0.113.7').retryAfterMs).toBe(60_000)
    limiter.reset('203.0.0.0/16', network)
    expect(limiter.peek('203.0.113.7').retryAfterMs).toBe(1000)
    clock.advance(1000)
    expect(isRefused('203.0.113.7')).toBe(false)
  })

  test('a later block of the same network counts, also if it is the shorter one', () => {
    limiter.block('203.0.113.0/24', '1h', network)
    limiter.block('203.0.113.5/24', '1s', network)
    expect(limiter.peek('203.0.113.7').retryAfterMs).toBe(1000)
  })

  test('it holds in every limiter with the same store and prefix, and in no other', () => {
    const store = memoryStore({ clock })
    const of = (options: object) => createLimiter({ store, limit: 5, window: '1h', ...options })
    const [one, other, apart] = [of({}), of({ window: '1d' }), of({ prefix: 'apart' })] as const
    one.block('203.0.113.0/24', '1h', network)
    const allowed = [one, other, apart].map((each) => each.consume('203.0.113.7').allowed)
    expect(allowed).toEqual([false, false, true])
  })

  test.each([
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/1',
    '10.0.0.0/7',
    '2000::/3',
    '2001::/15',
    'ada',
    '10.0.0.0/33',
  ])('%s is refused as a network', (text) => {
    expect(() => limiter.block(text, '1h', network)).toThrow(error('SLUICE_CIDR'))
    expect(isRefused('10.0.0.1')).toBe(false)
  })

  test('the 10,001st network is an error, until one has ended', () => {
    const text = (i: number) => `10.${i >> 8}.${i & 255}.0/24`
    const fill = Array.from({ length: 9999 }, (_, i) => `\n${text(i)} ${clock() + 1000}`)
    const store = memoryStore({ clock })
    store.documents.replace('sluice', 'networks', '', `${'a'.repeat(16)}${fill.join('')}`, 1000)
    const full = createLimiter({ store, limit: 5, window: '1h' })
    full.block(text(9999), '1h', network)
    const more = () => full.block(text(10_000), '1h', network)
    expect(more).toThrow(error('SLUICE_NETWORKS_FULL'))
    full.block(text(5), '1h', network)
    for (const [i, allowed] of [
      [0, false],
      [9999, false],
      [10_000, true],
    ] as const)
      expect(full.peek(text(i).replace('.0/24', '.1')).allowed).toBe(allowed)
    clock.advance(1000)
    more()
    expect(full.peek('10.39.16.1').allowed).toBe(false)
    expect(store.documents.read('sluice', 'networks', '').text?.split('\n')).toHaveLength(4)
  })

  describe('text that a client may have chosen', () => {
    let warnings: string[]
    beforeEach(() => {
      warnings = []
      jest.spyOn(process, 'emitWarning').mockImplementation(((text: string) => {
        warnings.push(text)
      }) as never)
    })
    afterEach(() => void jest.restoreAllMocks())

    test('blocks no network: a key is a key', () => {
      limiter.block('203.0.0.0/8', '1h')
      expect([isRefused('203.0.0.0/8'), isRefused('203.0.113.7')]).toEqual([true, false])
      expect(warnings).toEqual([expect.stringContaining('{ network: true }')])
      limiter.reset('203.0.0.0/8')
      expect(isRefused('203.0.0.0/8')).toBe(false)
    })
  })
})

/** The memory store behind promises, with texts that fail, or answer late, on demand. */
function remoteStore(clock?: ManualClock) {
  const memory = memoryStore(clock === undefined ? {} : { clock })
  const reads: string[] = []
  let fault: 'none' | 'fails' | 'hangs' = 'none'
  const held: (() => void)[] = []
  const answer = async <T>(act: () => T): Promise<T> => {
    if (fault === 'fails') throw new Error('the store is down')
    const value = act()
    if (fault === 'hangs') await new Promise<void>((resolve) => void held.push(resolve))
    return value
  }
  const store: Store<'async'> = {
    mode: 'async',
    clock,
    documents: {
      read: (prefix, name, known) => {
        reads.push(known)
        return answer(() => memory.documents.read(prefix, name, known))
      },
      replace: (...given) => answer(() => memory.documents.replace(...given)),
    } as Documents<'async'>,
    open(keyspaces, prefix) {
      const ledger = memory.open(keyspaces, prefix)
      return {
        decide: (...asked) => answer(() => structuredClone(ledger.decide(...asked))),
        change: (...given) => answer(() => ledger.change(...given)),
      }
    },
    close: () => memory.close(),
  }
  const texts = memory.documents
  return {
    store,
    texts,
    reads,
    fail: (now: typeof fault) => {
      fault = now
      for (const each of held.splice(0)) each()
    },
  }
}

/** What a process reads that is asked for in the background is there after some turns. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('on a remote store', () => {
  let ms: number
  beforeEach(() => {
    ms = performance.now()
    jest.spyOn(performance, 'now').mockImplementation(() => ms)
  })
  afterEach(() => void jest.restoreAllMocks())

  const limiterOn = (store: Store<'async'>) =>
    createLimiter({ store, limit: 1000, window: '1h', refusalCache: false, deadline: '1m' })
  const block = (seconds: number, at = Date.now()) =>
    `${VERSION}\n203.0.113.0/24 ${at + seconds * 1000}`

  test('a process asks with its first request, which does not wait, and again every 1.9 s while requests come', async () => {
    const { store, texts, reads } = remoteStore()
    texts.replace('sluice', 'networks', '', block(60), 60_000)
    const limiter = limiterOn(store)
    await turns()
    expect(reads).toEqual([])
    expect((await limiter.consume('203.0.113.7')).allowed).toBe(true)
    await turns()
    const refused = await limiter.consume('203.0.113.7')
    expect(refused).toMatchObject({ allowed: false, source: 'cache' })
    for (let i = 0; i < 10; i += 1) await limiter.consume('198.51.100.1')
    ms += 1899
    await limiter.consume('198.51.100.1')
    await turns()
    expect(reads).toEqual([''])
    ms += 1
    texts.replace('sluice', 'networks', VERSION, '', 0)
    // What is refused here asks too.
    await limiter.consume('203.0.113.7')
    await turns()
    expect(reads).toEqual(['', 'a'.repeat(16)])
    expect((await limiter.consume('203.0.113.7')).allowed).toBe(true)
    limiter.close()
  })

  test('a block ends by the clock of the store, whatever that of this process says', async () => {
    const { store, texts } = remoteStore()
    const limiter = limiterOn(store)
    const real = Date.now()
    jest.spyOn(Date, 'now').mockReturnValue(real + 86_400_000)
    texts.replace('sluice', 'networks', '', block(60), 60_000)
    await limiter.consume('198.51.100.1')
    await turns()
    jest.spyOn(Date, 'now').mockReturnValue(real)
    // The store was a day ahead.
    const { retryAfterMs } = await limiter.consume('203.0.113.7')
    expect(retryAfterMs).toBe(60_000)
    ms += 59_999
    expect((await limiter.consume('203.0.113.7')).retryAfterMs).toBe(1)
    ms += 1
    expect((await limiter.consume('203.0.113.7')).allowed).toBe(true)
    limiter.close()
  })

  test.each(['fails', 'hangs'] as const)(
    'while the store %s, what was known last stays in force, and nothing piles up',
    async (fault) => {
      const { store, texts, reads, fail } = remoteStore()
      texts.replace('sluice', 'networks', '', block(600), 600_000)
      const limiter = createLimiter({
        store,
        limit: 1000,
        window: '1h',
        onStoreError: 'allow',
        deadline: 1,
      })
      await limiter.peek('a')
      await Promise.resolve(limiter.consume('198.51.100.1'))
      await turns()
      fail(fault)
      for (let i = 0; i < 100; i += 1) {
        ms += 100
        expect((await limiter.consume('203.0.113.7')).allowed).toBe(false)
      }
      await turns()
      expect(reads.length).toBeLessThanOrEqual(fault === 'fails' ? 6 : 3)
      if (fault === 'fails')
        await expect(limiter.block('10.0.0.0/8', '1h', network)).rejects.toEqual(
          error('SLUICE_STORE_UNAVAILABLE'),
        )
      fail('none')
      await turns()
      texts.replace('sluice', 'networks', VERSION, '', 0)
      ms += 10_000
      await limiter.consume('203.0.113.7')
      await turns()
      expect((await limiter.consume('203.0.113.7')).allowed).toBe(true)
      limiter.close()
    },
  )

  test('a block of this process holds at once, also if an older answer comes after it', async () => {
    const { store, texts } = remoteStore()
    texts.replace('sluice', 'networks', '', `${VERSION}\n198.51.100.0/24 9e15`, 60_000)
    const documents = store.documents as Documents<'async'>
    const read = documents.read.bind(documents)
    let answer = () => {}
    jest.spyOn(documents, 'read').mockImplementationOnce(async (...asked) => {
      const older = await read(...asked)
      await new Promise<void>((resolve) => (answer = resolve))
      return older
    })
    const limiter = limiterOn(store)
    void limiter.consume('198.51.100.1')
    await turns()
    await limiter.block('203.0.113.0/24', '1h', network)
    expect((await limiter.consume('203.0.113.7')).retryAfterMs).toBe(3_600_000)
    answer()
    await turns()
    expect((await limiter.consume('203.0.113.7')).allowed).toBe(false)
    limiter.close()
  })

  test('the store keeps them until the last one ends', async () => {
    const { store } = remoteStore(manualClock())
    const replace = jest.spyOn(store.documents as Documents<'async'>, 'replace')
    const limiter = limiterOn(store)
    await limiter.block('203.0.113.0/24', '1h', network)
    await limiter.block('198.51.100.0/24', '1s', network)
    expect(replace.mock.calls.map((given) => given.at(-1))).toEqual([3_600_000, 3_600_000])
    limiter.close()
  })

  test('reset() of the tests forgets what was known', async () => {
    const { store, texts } = remoteStore()
    texts.replace('sluice', 'networks', '', block(60), 60_000)
    const limiter = limiterOn(store)
    await limiter.consume('198.51.100.1')
    await turns()
    expect((await limiter.consume('203.0.113.7')).allowed).toBe(false)
    texts.replace('sluice', 'networks', VERSION, '', 0)
    reset()
    expect((await limiter.consume('203.0.113.7')).allowed).toBe(true)
    limiter.close()
  })

  test('lines that are none, and bytes of something else, block nobody', async () => {
    const { store, texts } = remoteStore()
    const lines = [
      'x',
      '',
      '203.0.113.0/24',
      '203.0.113.0/24 soon',
      '0.0.0.0/0 9e15',
      `198.51.100.0/24 ${Date.now() + 9999}`,
    ]
    texts.replace('sluice', 'networks', '', `${'a'.repeat(16)}\n${lines.join('\n')}`, 60_000)
    const limiter = limiterOn(store)
    await limiter.consume('192.0.2.1')
    await turns()
    const keys = ['203.0.113.7', '192.0.2.1', '198.51.100.1']
    const allowed = await Promise.all(keys.map(async (key) => (await limiter.consume(key)).allowed))
    expect(allowed).toEqual([true, true, false])
    limiter.close()
  })

  test('a store that can not keep networks says so', async () => {
    const { documents: _, ...store } = remoteStore().store
    const limiter = limiterOn(store)
    const calls = [
      limiter.block('203.0.113.0/24', '1h', network),
      limiter.reset('203.0.113.0/24', network),
    ]
    for (const call of calls) await expect(call).rejects.toEqual(error('SLUICE_OPTION_CONFLICT'))
    expect((await limiter.consume('203.0.113.7')).allowed).toBe(true)
    limiter.close()
  })
})
