// Redis over HTTP: what its client adds, and servers that answer something else.

import type { ServerResponse } from 'node:http'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import {
  patient,
  type RedisServer,
  type RestBridge,
  startRedis,
  startRest,
  until,
} from '@sluice/test-harness/redis'
import { Redis as Cloudflare } from '@upstash/redis/cloudflare'
import { Redis as Fastly } from '@upstash/redis/fastly'
import { createLimiter, redisStore } from '../../index.ts'
import { isUpstash } from './client.ts'
import { Script } from './connection.ts'
import { fromDecimals, inDecimals } from './decimals.ts'
import { upstashOf } from './testing/every-client.ts'
import { unguarded } from './testing/unguarded.ts'

let redis: RedisServer
let rest: RestBridge
let prefix: string
let count = 0
beforeAll(async () => {
  redis = await startRedis()
  rest = await startRest(redis.url)
})
afterAll(async () => {
  await rest.close()
  await redis.stop()
})
let warnings: string[]
beforeEach(() => {
  count += 1
  prefix = `u${count}`
  rest.requests.length = 0
  warnings = []
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => warnings.push(message)) as never)
})
afterEach(() => {
  rest.instead = undefined
  rest.loses = undefined
  jest.restoreAllMocks()
})

/** Moves the time of this process. */
function manualTime(): { advance(ms: number): void } {
  const now = performance.now.bind(performance)
  let ahead = 0
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  const advance = (ms: number) => {
    ahead += ms
  }
  return { advance }
}

test('the first decision is one call, with all that is asked and kept beside it', async () => {
  const limiter = createLimiter({
    store: redisStore(upstashOf(rest)),
    limit: 30,
    window: '1d',
    prefix,
    ...patient,
  })
  await limiter.consume('client')
  expect(rest.requests[0]).toEqual(['EVAL', 'EVALSHA', 'EVAL'])
  // The first process of all also writes which keyspaces there are.
  const isKept = async () => (await redis.command('EXISTS', `${prefix}:{#}:keyspaces`)) === 1
  await until(isKept, { what: 'they are kept' })
  expect(rest.requests).toHaveLength(2)
  limiter.close()
})

test('with a decision each 2.5 s, each is one call, and a network that another process blocks is seen', async () => {
  const { advance } = manualTime()
  const limiterOf = () =>
    createLimiter({
      store: redisStore(upstashOf(rest)),
      limit: 30,
      window: '1d',
      prefix,
      ...patient,
    })
  const [limiter, other] = [limiterOf(), limiterOf()]
  const decide = async () => {
    const { allowed } = await limiter.consume('203.0.113.7')
    // The answer about networks comes with that of the decision.
    await new Promise(setImmediate)
    advance(2500)
    return allowed
  }
  for (let i = 0; i < 5; i += 1) expect(await decide()).toBe(true)
  // One of them is of the first process of all, which writes which keyspaces there are.
  expect(rest.requests).toHaveLength(5 + 1)
  await other.block('203.0.113.0/24', '1h', { network: true })
  await decide()
  expect(await decide()).toBe(false)
  limiter.close()
  other.close()
})

const forms = [
  ['with automatic pipelining', { enableAutoPipelining: true }],
  ['without automatic pipelining', { enableAutoPipelining: false }],
] as const

test('its forms for other runtimes are recognized, and what stands for a client', () => {
  const { url, token } = rest
  const client = upstashOf(rest)
  // @vercel/kv makes its client when it is first used.
  const lazy = new Proxy({}, { get: (_, name) => Reflect.get(client, name) })
  for (const each of [
    client,
    lazy,
    new Cloudflare({ url, token }),
    new Fastly({ url, token, backend: 'upstash' }),
  ]) {
    expect(isUpstash(each as typeof client)).toBe(true)
    expect(() => redisStore(each as typeof client)).not.toThrow()
  }
  for (const each of [client.pipeline(), client.multi()])
    expect(() => redisStore(each as never)).toThrow(/@upstash\/redis/)
})

describe.each(forms)('%s', (_, form) => {
  const limiterOf = (deadline?: '300ms') => {
    const store = redisStore(upstashOf(rest, form))
    return createLimiter({
      ...patient,
      ...(deadline && { deadline }),
      store,
      limit: 30,
      window: '1d',
      prefix,
    })
  }

  test('a settlement that reaches a threshold tells it', async () => {
    const reached: number[] = []
    const limiter = createLimiter({
      ...patient,
      store: redisStore(upstashOf(rest, form)),
      policies: [
        { name: 'window', limit: 30, window: '1d', alertAt: [0.5, 1] },
        { name: 'log', limit: 40, window: '1d', algorithm: 'sliding-log', alertAt: [0.5] },
      ],
      prefix,
      onThreshold: ({ used }) => void reached.push(used),
    })
    await limiter.settle('client', 14)
    await limiter.settle('client', 6)
    expect(reached).toEqual([20, 20])
    limiter.close()
  })

  test('exactly 30 of 60 are admitted, of two limiters', async () => {
    const limiters = [limiterOf(), limiterOf()]
    const calls = Array.from({ length: 60 }, (_, i) => limiters[i % 2]!.consume('client'))
    const decisions = await Promise.all(calls)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(30)
    expect(new Set(decisions.map(({ source }) => source))).toEqual(new Set(['store']))
  })

  test('a request is one EVALSHA, and one EVAL more where the server has lost the script', async () => {
    // Without automatic pipelining, which networks are blocked is a call of its own.
    const store = { ...redisStore(upstashOf(rest, form)), documents: undefined }
    const limiter = createLimiter({ ...patient, store, limit: 30, window: '1d', prefix })
    await limiter.consume('client')
    const isKept = async () => (await redis.command('EXISTS', `${prefix}:{#}:keyspaces`)) === 1
    await until(isKept, { what: 'the keyspaces are kept' })
    await redis.command('SCRIPT', 'FLUSH')
    await until(async () => (await limiter.peek('client')).remaining === 29, {
      what: 'it is charged',
    })
    await redis.command('SCRIPT', 'FLUSH')
    rest.requests.length = 0
    await limiter.consume('client')
    await limiter.consume('client')
    expect(rest.requests).toEqual([['EVALSHA'], ['EVAL'], ['EVALSHA']])
    expect((await limiter.peek('client')).remaining).toBe(27)
  })

  test('ten thousand requests of one turn share calls', async () => {
    const limiter = createLimiter({
      ...patient,
      store: upstashOf(rest, form),
      limit: 3000,
      window: '1d',
      prefix,
    })
    const calls = Array.from({ length: 10_000 }, () => limiter.consume('client'))
    const decisions = await Promise.all(calls)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3000)
    expect(rest.requests.length).toBeLessThan(300)
  })

  const answers: Record<string, (response: ServerResponse) => void> = {
    never: () => {},
    'half a head': (response) =>
      response.writeHead(200, { 'Content-Length': '100' }).write('{"res'),
    HTML: (response) => response.end('<html><body>Sign in</body></html>'),
    '502 in HTML': (response) => response.writeHead(502).end('<html>Bad gateway</html>'),
    '429': (response) =>
      response.writeHead(429).end('{"error":"ERR max daily request limit exceeded. Limit: 10000"}'),
    '500 without a body': (response) => response.writeHead(500).end(),
    'truncated JSON': (response) => response.end('{"result":"MTc5NTE3NjAwMDAwMCwzMCwwLDAs'),
    'an object': (response) => response.end('{}'),
    null: (response) => response.end('null'),
    'an empty pipeline': (response) => response.end('[]'),
    'another reply': (response) => response.end('{"result":"b3RoZXI="}'),
    'another reply in a pipeline': (response) => response.end('[{"result":"b3RoZXI="}]'),
    'too few numbers': (response) => response.end('[{"result":"MSwyLA=="}]'),
    'a connection that breaks': (response) => response.destroy(),
  }
  test.each(Object.entries(answers))(
    'the server answers %s: this process decides',
    async (_, answer) => {
      const limiter = limiterOf('300ms')
      rest.instead = answer
      const decisions = await Promise.all(
        Array.from({ length: 60 }, () => limiter.consume('secret-client')),
      )
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(30)
      expect(new Set(decisions.map(({ source }) => source))).toEqual(new Set(['local']))
      await expect(limiter.block('secret-client', '1s')).rejects.toThrow(
        'the store did not confirm it',
      )
      for (let i = 0; i < 10; i += 1) await limiter.consume('secret-client')
      await until(() => warnings.length > 0, { what: 'the store is given up' })
      expect(warnings.join()).not.toMatch(/secret-client|KEYS|redis\.call/)
      rest.instead = undefined
      // Not the client, whose charges of the meantime the store learns of with a probe.
      await until(async () => (await limiter.consume('other')).source === 'store', {
        what: 'it recovers',
      })
    },
  )

  test("another tenant's token is a mistake in the set-up, said once", async () => {
    const client = upstashOf({ ...rest, token: 'of another tenant' }, form)
    const limiter = createLimiter({ ...patient, store: client, limit: 5, window: '1d', prefix })
    for (let i = 0; i < 3; i += 1) expect((await limiter.consume('client')).source).toBe('local')
    expect(warnings).toEqual([
      expect.stringMatching(/WRONGPASS invalid or missing.*SLUICE_REDIS_AUTH/),
    ])
    expect(warnings[0]).not.toMatch(/tenant|EVALSHA/i)
  })
})

test.each([
  ['retry: { retries: 0 }', { retries: 0 }, { lost: 1, charged: 1 }],
  ['retry: false', false, { lost: 0, charged: 2 }],
  ['its default', undefined, { lost: 0, charged: 2 }],
] as const)('a lost reply leaves a charge, with %s: %o', async (_, retry, expected) => {
  const limiter = createLimiter({
    store: unguarded(upstashOf(rest, { retry })),
    limit: 10,
    window: '1d',
    prefix,
  })
  await limiter.consume('other')
  rest.loses = (commands) => {
    const isOwn = commands.includes('{client}')
    if (isOwn) rest.loses = undefined
    return isOwn
  }
  const lost = await limiter.consume('client').then(
    () => 0,
    () => 1,
  )
  const { remaining } = await limiter.peek('client')
  expect({ lost, charged: 10 - remaining }).toEqual(expected)
})

test('numbers come through as they are', async () => {
  const numbers = [0, 1, 2 ** 53 - 1, -1, 1_795_176_000_123, Number.NEGATIVE_INFINITY, 2 ** -20]
  const many = Array.from({ length: 1500 }, (_, i) => numbers[i % numbers.length] as number)
  const parts = many.map((each) => (each === Number.NEGATIVE_INFINITY ? '-math.huge' : `${each}`))
  const table = `local all = {} for each in ('${parts.join(' ')}'):gmatch('%S+') do
    all[#all + 1] = struct.pack('<d', tonumber(each) or -math.huge) end`
  const client = upstashOf(rest)
  for (const [form, failures] of [
    ['return table.concat(all)', []],
    ["return { table.concat(all), 'ERR one', '17' }", ['ERR one', '17']],
  ] as const) {
    const script = new Script(inDecimals(`${table}\n${form}`))
    const reply = fromDecimals(await client.eval(script.text, [], []))
    const [bytes, ...others] = (Array.isArray(reply) ? reply : [reply]) as [Uint8Array]
    const view = new DataView(bytes.buffer)
    expect(many.map((_, i) => view.getFloat64(8 * i, true))).toEqual(many)
    expect(others.map(String)).toEqual(failures)
  }
})
