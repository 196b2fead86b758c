// `sluice policy` on a real Redis, beside an application whose limits it changes.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  createLimiter,
  type Documents,
  type Limiter,
  type LimiterOptions,
  redisStore,
  type StoreEntry,
} from '@sluice/core'
import { type FakeTerminal, fakeTerminal } from '@sluice/terminal/testing/fake-terminal'
import { scratch } from '@sluice/test-harness/jest'
import { patient, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { connect } from '../connect.ts'
import type { Connection } from '../connection.ts'
import { type PolicyAction, policyCommand } from './policy-command.ts'
import type { PolicyFlags } from './policy-flags.ts'
import { policyLines } from './policy-text.ts'

const { file } = scratch()
let redis: RedisServer
let client: Redis
let connection: Connection
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client?.disconnect()
  await redis.stop()
})
const limiters: Limiter<'async'>[] = []
beforeEach(async () => {
  await redis.command('FLUSHALL')
  // What a process knows of a store belongs to the store.
  connection = await connect({ redis: redis.url })
})
afterEach(() => {
  connection.close()
  for (const limiter of limiters.splice(0)) limiter.close()
})

const API = { name: 'api', limit: 100, window: '1m', live: true } as const
const BURST = { name: 'burst', limit: 20, window: '1s', algorithm: 'token-bucket', live: true }

/** An application that has counted a client: its policies are in the store. */
async function application(
  options: object = API,
  how: 'consume' | 'acquire' = 'consume',
): Promise<Limiter<'async'>> {
  const store = redisStore(client)
  const given: unknown = { ...patient, store, ...options }
  const limiter = createLimiter(given as LimiterOptions) as Limiter<'async'>
  limiters.push(limiter)
  await limiter[how]('ada')
  // It waits until they are.
  for await (const { key } of store.inspect()) expect(key).toBe('ada')
  return limiter
}

const flags: PolicyFlags = { prefix: 'sluice', by: 'ada' }
const yes = { ...flags, yes: true }

/** An action, and its argument. */
type Asked = readonly [PolicyAction, string?]

async function policy([action, of]: Asked, given: PolicyFlags = yes, io = fakeTerminal(false)) {
  const code = await policyCommand(action, of, given, connection, io)
  return { code, out: io.out(), err: io.err() }
}

const set = (name: string, given: Partial<PolicyFlags>, io?: FakeTerminal) =>
  policy(['set', name], { ...yes, ...given }, io)
const list = async (given: Partial<PolicyFlags> = {}) =>
  (await policy(['list'], { ...flags, ...given })).out
const history = async () => (await policy(['history'], flags)).out
const limits = (policies: unknown, name = 'limits.json') =>
  file(name, JSON.stringify({ $schema: './limits.schema.json', policies }))

const MOMENT = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC'

describe('list', () => {
  it('shows what is in force, in the code, and who changed it', async () => {
    await application(
      {
        name: 'api',
        policies: [
          { ...API, name: 'default', live: { limit: { min: 10, max: 500 } } },
          BURST,
          { name: 'slots', concurrent: 5, live: true },
        ],
      },
      'acquire',
    )
    expect(await list()).toBe(
      [
        'api: 100 per 1 min (sliding-window)',
        '  as in the code',
        '  bounds: 10 to 500',
        'api/burst: 20 per 1 s (token-bucket)',
        '  as in the code',
        'api/slots: 5 at a time (concurrency)',
        '  as in the code\n',
      ].join('\n'),
    )
    await set('api', { limit: '200', for: '1h' })
    await set('api/burst', { enforce: '10%', alertAt: '0.8,100%', by: 'bob' })
    await set('api/slots', { concurrent: '3', dryRun: true })
    expect(await list()).toMatch(
      new RegExp(
        [
          '^api: 200 per 1 min \\(sliding-window; 100 in the code\\)',
          `  set: limit 200, until ${MOMENT}`,
          '  bounds: 10 to 500',
          `  last change: 1, set by ada \\(command on .+\\), ${MOMENT}`,
          'api/burst: 20 per 1 s \\(token-bucket\\), refuses 10 % of the clients',
          '  set: alert at 80 % and 100 %, enforce 10 %',
          `  last change: 2, set by bob \\(command on .+\\), ${MOMENT}`,
          'api/slots: 3 at a time \\(concurrency; 5 in the code\\), a dry run',
          '  set: concurrent 3, dry run',
          `  last change: 3, set by ada .*\n$`,
        ].join('\n'),
      ),
    )
  })

  it('as JSON', async () => {
    await application()
    await set('api', { limit: '200' })
    expect(JSON.parse(await list({ json: true }))).toMatchObject([
      {
        ...{ name: 'api', algorithm: 'sliding-window', windowMs: 60_000, limit: 200 },
        ...{ codeLimit: 100, enforced: 1, settings: { limit: 200 } },
        changed: { number: 1, action: 'set', by: 'ada', at: expect.any(Number) },
        own: { clients: 0, isComplete: true },
      },
    ])
  })

  it('counts the clients that have a limit of their own', async () => {
    const limiter = await application()
    await limiter.override('ada', { limit: 5 })
    await limiter.grant('ada', 5)
    await limiter.grant('bob', 5)
    expect(await list()).toContain('  limits of their own: 2 clients')
    expect(await list({ all: true })).toContain('  limits of their own: 2 clients')
  })

  it('says so where it has not read all keys', async () => {
    await application()
    const [api] = JSON.parse(await list({ json: true }))
    const lines = (clients: number) =>
      policyLines({ ...api, own: { clients, isComplete: false } }).at(-1)
    expect(lines(0)).toBe('  limits of their own: at least 0 clients; --all reads all keys')
    expect(lines(1)).toBe('  limits of their own: at least 1 client; --all reads all keys')
  })

  it('counts up to 100,000 of them', async () => {
    const limiter = await application()
    await limiter.override('ada', { limit: 5 })
    const { store } = connection
    let ada: StoreEntry | undefined
    for await (const entry of store.inspect()) ada = entry
    const ownOf = async (clients: number) => {
      async function* inspect() {
        for (let i = 0; i < clients; i += 1) yield { ...ada, key: `user:${i}` }
      }
      const io = fakeTerminal(false)
      const given = { ...flags, all: true, json: true }
      await policyCommand(
        'list',
        undefined,
        given,
        { ...connection, store: { ...store, inspect: inspect as typeof store.inspect } },
        io,
      )
      return JSON.parse(io.out())[0].own
    }
    expect(await ownOf(99_999)).toEqual({ clients: 99_999, isComplete: true })
    expect(await ownOf(100_001)).toEqual({ clients: 100_000, isComplete: false })
  })

  it('of a limit by request says so', async () => {
    await application()
    const key = 'sluice:{#}:keyspaces'
    await client.set(key, ((await client.get(key)) as string).replace(' 100;live', ' -;live'))
    expect(await list()).toContain('api: a limit by request per 1 min')
  })

  it('says that there is none', async () => {
    expect(await list()).toMatch(/^no policy with the option live .* under the prefix sluice\n$/)
    await application({ ...API, live: undefined })
    expect(await list()).toMatch(/^no policy/)
  })

  it('says that the document is ignored, and why', async () => {
    await application()
    await client.set('sluice:{#}:policies', 'nonsense, or ten megabytes of it'.repeat(20))
    expect(await list()).toMatch(/ {2}ignored by the processes that have it: it is no JSON/)
    await set('api', { limit: '7' })
    expect(await list()).not.toContain('ignored')
    expect(await list()).toContain('api: 7 per')
  })
})

describe('set', () => {
  it('changes the limit of an application within two seconds, and back by itself', async () => {
    const limiter = await application()
    const { code, out } = await set('api', { limit: '200', for: '2s' })
    expect(code).toBe(0)
    expect(out).toContain('done: set limit 200 of api for 2 s (prefix sluice): change 1\n')
    const limitIs = async (limit: number) => (await limiter.peek('ada')).limit === limit
    await until(() => limitIs(200), { what: 'the limit is taken over' })
    await until(() => limitIs(100), { what: 'it has ended' })
  })

  it('without an end ends what was set for a time, as its preview says', async () => {
    const limiter = await application()
    await limiter.consume('ada', { cost: 60 })
    await set('api', { limit: '500', for: '1h' })
    const { out } = await set('api', { limit: '50', preview: true })
    expect(out).toContain(
      'api with 50:\n  1 client counted now, 0 with nothing left\n  1 would have',
    )
    const done = await set('api', { limit: '50' })
    expect(done.out).toMatch(
      /set: limit 500, until .*\ndone: set limit 50 of api \(prefix sluice\)/s,
    )
    expect(await list()).toContain('api: 50 per 1 min')
    expect(await history()).toMatch(/api: limit 500 until .* → limit 50$/m)
  })

  it('is confirmed by what the store shows then', async () => {
    await application()
    const { documents } = connection.store
    const forgetful = { ...documents, replace: async () => true }
    const store = Object.create(connection.store, { documents: { value: forgetful } })
    const io = fakeTerminal(false)
    const asked = ['set', 'api'] as const
    const given = { ...yes, limit: '50' }
    await expect(policyCommand(...asked, given, { ...connection, store }, io)).rejects.toThrow(
      /the store does not show change 1/,
    )
    expect(io.out()).not.toContain('done')
  })

  it('asks before, and shows what holds now', async () => {
    await application()
    const io = fakeTerminal(true)
    const asking = set('api', { limit: '50', yes: false }, io)
    await until(async () => io.err().includes('[y/N]'), { what: 'it asks' })
    expect(io.out()).toContain('api: 100 per 1 min')
    expect(io.err()).toContain('set limit 50 of api (prefix sluice)? [y/N]')
    io.stdin.write('n\n')
    expect(await asking).toMatchObject({ code: 1 })
    expect(await history()).toContain('nothing was changed yet')
  })

  it('says what somebody has changed since it asked', async () => {
    await application()
    const io = fakeTerminal(true)
    const asking = set('api', { limit: '50', yes: false }, io)
    await until(async () => io.err().includes('[y/N]'), { what: 'it asks' })
    await set('api', { limit: '300', by: 'bob' })
    io.stdin.write('y\n')
    const { code, err } = await asking
    expect(code).toBe(1)
    expect(err).toContain('SLUICE_POLICY_CHANGED')
    expect(await list()).toContain('api: 300 per')
  })

  it.each<[Partial<PolicyFlags>, RegExp]>([
    [{}, /^say what to set/],
    [{ limit: '1e300' }, /^--limit: expected units, an integer, received '1e300'/],
    [{ limit: '-1' }, /^--limit: expected units/],
    [{ limit: '9'.repeat(16) }, /limit.*integer/i],
    [{ limit: '0x10' }, /^--limit/],
    [{ burst: '5' }, /algorithm: 'token-bucket'/],
    [{ enforce: '101%' }, /^--enforce: expected a share such as/],
    [{ enforce: '10%', dryRun: true }, /either dryRun or enforce/],
    [{ alertAt: '0.8,' }, /^--alert-at: expected a share/],
    [{ limit: '5', for: 'soon' }, /--for/],
    [{ maxDelay: '1s' }, /algorithm: 'leaky-bucket'/],
  ])('refuses %j', async (given, message) => {
    await application()
    await expect(set('api', given)).rejects.toThrow(message)
    expect(await history()).toContain('nothing was changed yet')
  })

  it('of a policy that nobody has names those that there are', async () => {
    await application()
    await expect(set('apo', { limit: '5' })).rejects.toThrow(/one of api, received/)
  })

  it.each(['set', 'unset'] as const)('%s without a terminal needs --yes', async (action) => {
    await application()
    await expect(policy([action, 'api'], { ...flags, limit: '5' })).rejects.toThrow(
      `${action} changes the store: add --yes, as there is no terminal to ask on`,
    )
  })

  it('a preview changes nothing, and needs nobody to agree', async () => {
    const limiter = await application()
    for (const [key, cost] of [
      ['bob', 60],
      ['eve', 50],
      ['mallory', 1],
    ] as const)
      await limiter.consume(key, { cost })
    await limiter.override('eve', { limit: 500 })
    const asked = { ...flags, limit: '50', preview: true }
    expect((await policy(['set', 'api'], asked)).out).toBe(
      [
        'api with 50:',
        '  4 clients counted now, 0 with nothing left',
        '  1 would have nothing left, 1 of them would be refused',
        '  1 with a limit of their own, which stays',
        'nothing was changed\n',
      ].join('\n'),
    )
    const { out } = await policy(['set', 'api'], { ...asked, json: true })
    expect(JSON.parse(out)).toMatchObject({ clients: 4, over: 1, refused: 1, own: 1 })
    expect(await history()).toContain('nothing was changed yet')
  })
})

describe('a file', () => {
  const apply = (path: string, given: PolicyFlags = yes, io = fakeTerminal(false)) =>
    policy(['apply', path], given, io)
  const diff = async (path: string) => (await policy(['diff', path], flags)).out

  it('is all that is set', async () => {
    await application({ name: 'api', policies: [{ ...API, name: 'default' }, BURST] })
    await set('api', { limit: '300' })
    const path = limits({ 'api/burst': { limit: 10, enforce: 0.1 } })
    const lines =
      '  api: limit 300 → as in the code\n  api/burst: as in the code → limit 10, enforce 10 %\n'
    expect(await diff(path)).toBe(lines)
    expect((await apply(path)).out).toBe(`${lines}done: apply ${path} (prefix sluice): change 2\n`)
    expect(await diff(path)).toBe('no difference\n')
    expect((await apply(path)).out).toBe('nothing to change\n')
    expect(await list()).toMatch(/^api: 100 per.*api\/burst: 10 per 1 s/s)
  })

  it('is not applied over what somebody has changed since the difference was shown', async () => {
    await application()
    const io = fakeTerminal(true)
    const asking = apply(limits({ api: { limit: 50 } }), flags, io)
    await until(async () => io.err().includes('[y/N]'), { what: 'it asks' })
    await set('api', { dryRun: true, by: 'bob' })
    io.stdin.write('y\n')
    const { code, err } = await asking
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('1, by bob') })
    expect(await history()).toMatch(/^1, set by bob/)
  })

  it('is not applied with --yes over what somebody changes meanwhile', async () => {
    const limiter = await application()
    const { store } = connection
    const documents = store.documents as Documents<'async'>
    let isFirst = true
    const slow: Documents<'async'> = {
      read: (...given) => documents.read(...given),
      async replace(...given) {
        if (isFirst) await limiter.policies.set('api', { dryRun: true }, { by: 'bob' })
        isFirst = false
        return documents.replace(...given)
      },
    }
    const io = fakeTerminal(false)
    const asked = ['apply', limits({ api: { limit: 50 } })] as const
    const through: Connection = {
      ...connection,
      store: Object.create(store, { documents: { value: slow } }),
    }
    expect(await policyCommand(...asked, yes, through, io)).toBe(1)
    expect(io.err()).toContain('1, by bob')
    expect(await history()).toMatch(/^1, set by bob/)
  })

  it.each<[string, string, RegExp]>([
    ['no JSON', '{', /expected JSON: /],
    ['a list', '[]', /expected an object such as/],
    ['no policies', '{}', /expected policies: an object/],
    ['something else', '{"policies":{},"limits":{}}', /and \$schema, not 'limits'/],
    ['another form', '{"form":1,"policies":{}}', /not 'form'/],
    ['a limit beyond all', '{"policies":{"api":{"limit":1e300}}}', /limit/],
    ['a window', '{"policies":{"api":{"window":"1h"}}}', /Change window in the code/],
    ['a policy that nobody has', '{"policies":{"apo":{"limit":1}}}', /one of api/],
    ['settings that are none', '{"policies":{"api":5}}', /settings such as/],
    ['10 MB', `{"policies":{},"filler":"${'x'.repeat(1e7)}"}`, /at most 1000000 bytes/],
  ])('that is wrong is refused: %s', async (name, text, message) => {
    await application()
    const path = file(`${name}.json`, text)
    await expect(apply(path)).rejects.toThrow(message)
    await expect(diff(path)).rejects.toThrow(message)
    expect(await history()).toContain('nothing was changed yet')
  })

  it('that is not there, or a folder, is refused', async () => {
    for (const path of ['/nowhere/limits.json', __dirname])
      await expect(apply(path)).rejects.toThrow(`${path} can't be read: `)
  })
})

describe('history and rollback', () => {
  it('say which of them are forgotten', async () => {
    const { policies } = await application()
    for (let i = 1; i <= 50; i += 1) await policies.set('api', { limit: i })
    expect(await history()).not.toContain('forgotten')
    await policies.set('api', { limit: 7 })
    expect(await history()).toMatch(/\nchanges up to 1 are forgotten\n$/)
  })

  it('show what was changed, and bring it back', async () => {
    await application()
    await set('api', { limit: '200' })
    await set('api', { limit: '300', for: '1h', by: 'bob' })
    await policy(['unset', 'api'])
    expect(await history()).toMatch(
      new RegExp(
        [
          `^3, unset by ada .*, ${MOMENT}`,
          `  api: limit 200; limit 300 until ${MOMENT} → as in the code`,
          `2, set by bob .*, ${MOMENT}`,
          `  api: limit 200 → limit 200; limit 300 until ${MOMENT}`,
          `1, set by ada .*, ${MOMENT}`,
          '  api: as in the code → limit 200\n$',
        ].join('\n'),
      ),
    )
    const { out } = await policy(['rollback', '2'])
    expect(out).toBe(
      '  api: as in the code → limit 200\n' +
        'done: undo change 2 and later ones (prefix sluice): change 4\n',
    )
    expect(await list()).toContain('api: 200 per')
    await policy(['rollback', undefined])
    expect(await list()).toContain('api: 100 per')
  })

  it.each(['9', 'x', undefined])('of no change: %s', async (number) => {
    await application()
    await expect(policy(['rollback', number])).rejects.toThrow(/change/)
  })
})

it('needs no more than the permissions in the docs to change limits', async () => {
  await application()
  const keys = ['~sluice:{#}:policies', '~sluice:{#}:keyspaces']
  const commands = ['+eval', '+evalsha', '+time', '+get', '+getrange', '+set', '+info']
  await client.acl('SETUSER', 'ops', 'on', '>secret', ...keys, ...commands)
  connection.close()
  connection = await connect({ redis: redis.url.replace('//', '//ops:secret@') })
  await set('api', { limit: '200' })
  await policy(['apply', limits({ api: { dryRun: true } })])
  await policy(['rollback', undefined])
  await policy(['unset', 'api'])
  expect((await history()).match(/^\d/gm)).toEqual(['4', '3', '2', '1'])
  await expect(list()).rejects.toThrow(/NOPERM/)
})

it('writes nothing that a terminal obeys, whatever the store says', async () => {
  const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp\r\n'
  await application()
  await set('api', { limit: '200', by: evil })
  const key = 'sluice:{#}:policies'
  const [version, json = ''] = ((await client.get(key)) as string).split('\n')
  const document = JSON.parse(json)
  const [change] = document.history
  document.history.push({
    ...{ ...change, number: 2, from: evil, action: evil },
    after: {
      [evil]: [{ set: { limit: evil, alertAt: [evil, null], maxDelay: { evil } } }],
      api: [],
    },
  })
  await client.set(key, `${version}\n${JSON.stringify(document)}`)
  const kept = 'sluice:{#}:keyspaces'
  const line = `${Date.now() + 1e6} sluice 5;live=${encodeURIComponent(evil)},0,9 fixed-window:1000:x`
  await client.set(kept, `${await client.get(kept)}\n${line}`)
  const out = [await list(), await list({ json: true }), await history()]
  out.push((await policy(['history'], { ...flags, json: true })).out)
  for (const text of out) {
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
    expect(text).toMatch(/\\u001b/)
  }
})
