// Bundles for pages and workers: without Node, they do what Node does.

import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, jest, test } from '@jest/globals'
import type { RedisClient } from '@sluice/core'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import { SECRET, scenarios } from './scenarios.ts'
import { BareWorker, type Bundle, bundleForWeb, MARKER } from './web-bundle.ts'

type Name = keyof typeof scenarios
type Scenarios = Record<Name, () => () => unknown>

const NAMES = Object.keys(scenarios) as Name[]
const WORKER = ['workerd', 'worker']

/** What crosses the border of the context is not of this one's classes. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

async function answersOf(all: Scenarios, begin = () => {}): Promise<Record<Name, unknown>> {
  const made = NAMES.map((name) => [name, all[name]()] as const)
  begin()
  const answers: [Name, unknown][] = []
  for (const [name, run] of made) answers.push([name, plain(await run())])
  return Object.fromEntries(answers) as Record<Name, unknown>
}

describe('@sluice/hono in a worker', () => {
  let bundle: Bundle
  const worker = new BareWorker()
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  let node: Record<Name, unknown>
  let web: Record<Name, unknown>
  beforeAll(async () => {
    bundle = await bundleForWeb("export * from './scenarios.ts'", WORKER)
    node = await answersOf(scenarios)
    const loaded = worker.load<{ scenarios: Scenarios }>(bundle)
    web = await answersOf(loaded.scenarios, () => worker.serve())
  })
  afterAll(() => {
    worker.stop()
    emitWarning.mockRestore()
  })

  it('needs nothing of Node', () => {
    expect(bundle.imports).toEqual([])
    expect(bundle.code).not.toContain('node:')
    expect(bundle.code).not.toContain(MARKER)
  })

  it.each(NAMES)('answers as on Node, to the byte: %s', (name) => {
    expect(web[name]).toEqual(node[name])
  })

  it.each(['hono', 'fetch'] as const)('admits exactly 30 of 60 at once: %s', (name) => {
    expect(web[name]).toMatchObject({ served: 30, status: 200, refused: { status: 429 } })
  })

  it('distinguishes long keys, and keeps their digests', () => {
    const { allowed, entries } = web.longKeys as { allowed: boolean[]; entries: string[] }
    expect(allowed).toEqual([...Array(5).fill(true), ...Array(5).fill(false)])
    expect(entries).toEqual(Array(5).fill(expect.stringMatching(/^#[\w-]{43}$/)))
  })

  it('counts more keys than a Map of the store holds', () => {
    expect(web.manyKeys).toEqual({ admitted: 40_000, size: 40_000 })
  })

  it('has the partition keys of Node', () => {
    const pk = createHmac('sha256', SECRET).update('key:client').digest().subarray(0, 9)
    expect(web.hono).toMatchObject({
      fields: { 'ratelimit-policy': `"default";q=30;w=3600;pk=:${pk.toString('base64')}:` },
    })
  })

  it('says what is wrong with options', () => {
    const errors = web.mistakes as [code: string, option: string, message: string][]
    expect(errors.map(([code, option]) => `${code} ${option}`)).toEqual([
      'SLUICE_OPTION_TYPE limit',
      'SLUICE_OPTION_RANGE limit',
      'SLUICE_OPTION_TYPE limit',
      'SLUICE_OPTION_TYPE window',
      'SLUICE_OPTION_VALUE algorithm',
      'SLUICE_OPTION_UNKNOWN max',
      'SLUICE_OPTION_TYPE address',
      'SLUICE_SECRET partitionSecret',
      'SLUICE_STORE_UNKNOWN store',
      'SLUICE_STORE_UNKNOWN store',
      "SLUICE_ROUTE routes['GTE /']",
      'SLUICE_TRUST_PROXY trustProxy',
    ])
  })

  it('holds slots, and settles a stream at its end', () => {
    // Whether its end is there before anybody reads it is the runtime's.
    const { slots, after } = web.streams as Record<string, unknown>
    expect({ slots, after }).toEqual({ slots: [true, false, true], after: 93 })
  })

  it('warns on the console', () => {
    const given = emitWarning.mock.calls as unknown as [string, { code: string }][]
    const texts = given.map(([text, { code }]) => [`[${code}] SluiceWarning: ${text}`])
    expect(worker.warnings).toEqual(texts)
    expect(texts).toEqual([[expect.stringMatching('SLUICE_KEY_MISSING')]])
  })
})

test('a stream keeps its slot while its bytes flow, where timers end with the request that set them', async () => {
  const entry = "export { limitFetch } from '@sluice/hono'"
  const worker = new BareWorker()
  const { limitFetch } = worker.load<typeof import('@sluice/hono')>(
    await bundleForWeb(entry, WORKER),
  )
  const options = { key: () => 'client', concurrent: 1, hold: '1s' } as const
  const every150ms = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    await new Promise((resolve) => setTimeout(resolve, 150))
    controller.enqueue(new Uint8Array([1]))
  }
  const GET = limitFetch(
    options,
    () => new Response(new ReadableStream({ pull: every150ms }, { highWaterMark: 0 })),
  )
  worker.serve()
  const request = () => GET(new Request('http://example.com/'))
  const { body } = await request()
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  for (let i = 0; i < 20; i += 1) {
    worker.dropTimers()
    await reader.read()
    expect((await request()).status).toBe(429)
  }
  GET.limiter.close()
  worker.stop()
})

test.each(['its response is read', 'its handler runs'])(
  'a request that the runtime drops while %s has no slot after hold, although others come',
  async (moment) => {
    const entry = "export { limitFetch } from '@sluice/hono'"
    const worker = new BareWorker()
    const { limitFetch } = worker.load<typeof import('@sluice/hono')>(
      await bundleForWeb(entry, WORKER),
    )
    const never = new Promise<never>(() => {})
    const GET = limitFetch(
      { key: () => 'client', concurrent: 2, hold: '1s' } as const,
      ({ url }) => {
        if (url.endsWith('/short')) return new Response('short')
        return moment === 'its handler runs'
          ? never
          : new Response(new ReadableStream({ pull: () => never }))
      },
    )
    worker.serve()
    const request = (path: string) => GET(new Request(`http://example.com/${path}`))
    const dropped = request('dropped')
    if (moment === 'its response is read') void (await dropped).body?.getReader().read()
    worker.dropTimers()
    const end = performance.now() + 1500
    while (performance.now() < end) {
      expect((await request('short')).headers.get('RateLimit')).toMatch(/r=[01]$/)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect((await request('short')).headers.get('RateLimit')).toBe('"default";r=1')
    GET.limiter.close()
    worker.stop()
  },
)

test('nothing of @sluice/core, http and transactional needs Node', async () => {
  const core = ['', '/algorithms', '/internal', '/internal-stores', '/store', '/testing']
  const others = ['http', 'http/adapter', 'http/overload', 'transactional']
  const entries = [...core.map((path) => `core${path}`), ...others]
  const lines = entries.map((path, i) => `export * as entry${i} from '@sluice/${path}'`)
  const { imports, code } = await bundleForWeb(lines.join('\n'), WORKER)
  expect(imports).toEqual([])
  expect(code).not.toContain(MARKER)
})

test('@sluice/core in a page: a limiter in memory', async () => {
  const entry = "export { createLimiter, memoryStore } from '@sluice/core'"
  const bundle = await bundleForWeb(entry, [])
  expect(bundle.imports).toEqual([])
  expect(bundle.code).not.toContain(MARKER)
  const page = new BareWorker()
  const { createLimiter, memoryStore } = page.load<typeof import('@sluice/core')>(bundle)
  page.serve()
  const limiter = createLimiter({ store: memoryStore(), limit: 2, window: '1d' })
  const allowed = Array.from({ length: 3 }, () => limiter.consume('visitor').allowed)
  expect(allowed).toEqual([true, true, false])
  page.stop()
})

describe('a bundle for the web, in a runtime with sockets', () => {
  const redis = useRedis()

  it('counts in Redis, with a client that runs there', async () => {
    const { code } = await bundleForWeb("export { createLimiter } from '@sluice/core'", WORKER)
    const { createLimiter } = new Function(`${code}; return bundled`)()
    const limiter = createLimiter({
      ...patient,
      store: redis.client as RedisClient,
      limit: 30,
      window: '1d',
    })
    const decisions = await Promise.all(
      Array.from({ length: 60 }, () => limiter.consume('x'.repeat(300))),
    )
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(30)
    expect(new Set(decisions.map(({ source }) => source))).toEqual(new Set(['store']))
    limiter.close()
  })
})
