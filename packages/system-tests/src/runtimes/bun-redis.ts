// The suite of stores, and faults, on Bun's own client of Redis. Its arguments are the URL and the port of a server.

import assert from 'node:assert/strict'
import { createLimiter, type RedisClient, redisStore } from '@sluice/core'
import { patient, startProxy, until } from '@sluice/test-harness/redis'
import { storeSuite } from '@sluice/test-suites'
import { SmallRunner } from './small-runner.ts'

type Client = Extract<RedisClient, { connected: boolean }> & {
  onconnect: unknown
  connect(): Promise<void>
  close(): void
}
const { RedisClient: Bun } = (
  globalThis as unknown as {
    Bun: { RedisClient: new (url: string, options?: object) => Client }
  }
).Bun

const [url = '', port = ''] = process.argv.slice(2)
const runner = new SmallRunner()
const client = new Bun(url)

storeSuite(runner, 'the Redis store', {
  mode: 'async',
  inspects: true,
  create: (clock) => redisStore(client, { clock }),
})

/** A limiter on a client of its own, behind a network. */
async function behind(options: { readonly client?: object; readonly limiter?: object } = {}) {
  const proxy = await startProxy({ port: Number(port) })
  const own = new Bun(proxy.url, options.client)
  const limits = { limit: 100, window: '1d', prefix: `bun-${proxy.port}` } as const
  const limiter = createLimiter({ ...patient, ...limits, ...options.limiter, store: own })
  return {
    proxy,
    limiter,
    own,
    direct: createLimiter({ ...patient, ...limits, store: client }),
    async [Symbol.asyncDispose]() {
      limiter.close()
      own.close()
      await proxy.stop()
    },
  }
}
const prompt = { deadline: 200, onStoreError: 'deny' } as const

for (const options of [{}, { enableAutoPipelining: false }, { enableOfflineQueue: false }])
  runner.test(`admits exactly the limit, with ${JSON.stringify(options)}`, async () => {
    await using at = await behind({ client: options })
    // Without a queue, what is sent before it is connected fails.
    await at.own.connect()
    const asked = Array.from({ length: 300 }, () => at.limiter.consume('client'))
    const decisions = await Promise.all(asked)
    assert.equal(decisions.filter(({ allowed }) => allowed).length, 100)
    assert(decisions.every(({ source }) => source === 'store'))
    await client.send('SCRIPT', ['FLUSH'])
    assert.equal((await at.limiter.consume('other')).remaining, 99)
    assert.equal(at.own.onclose ?? at.own.onconnect ?? null, null)
  })

runner.test(
  'a server that hangs: each decision is in time, and nothing is charged twice',
  async () => {
    await using at = await behind({ limiter: prompt })
    await at.limiter.consume('client')
    at.proxy.blackhole()
    for (let i = 0; i < 10; i += 1)
      assert.equal((await at.limiter.consume('client')).source, 'deny')
    at.proxy.blackhole(false)
    at.proxy.cut()
    const works = async () => (await at.limiter.consume('client', { cost: 0 })).source === 'store'
    await until(works, { what: 'the store decides' })
    assert.equal((await at.direct.peek('client')).remaining, 99)
  },
)

runner.test(
  'a client that connects in vain: decisions are in time, and charge nothing later',
  async () => {
    const client = { enableOfflineQueue: false, maxRetries: 2 ** 31 - 1 }
    await using at = await behind({ limiter: prompt, client })
    await at.own.connect()
    await at.limiter.consume('client')
    at.proxy.refuse()
    at.proxy.cut()
    for (let i = 0; i < 20; i += 1)
      assert.equal((await at.limiter.consume('client')).source, 'deny')
    at.proxy.refuse(false)
    const works = async () => (await at.limiter.consume('client', { cost: 0 })).source === 'store'
    await until(works, { what: 'the store decides' })
    assert.equal((await at.direct.peek('client')).remaining, 99)
  },
)

runner.test('a reply that is lost leaves one charge behind: nothing is sent again', async () => {
  await using at = await behind({ limiter: { onStoreError: 'deny' } })
  await at.limiter.consume('other')
  at.proxy.loseReplies()
  const calls = Array.from({ length: 10 }, () => at.limiter.consume('client'))
  const isCharged = async () => (await at.direct.peek('client')).remaining === 90
  await until(isCharged, { what: 'the server has charged each' })
  at.proxy.loseReplies(false)
  at.proxy.cut()
  for (const { source } of await Promise.all(calls)) assert.equal(source, 'deny')
  const works = async () => (await at.limiter.consume('other', { cost: 0 })).source === 'store'
  await until(works, { what: 'the store decides' })
  assert.equal((await at.direct.peek('client')).remaining, 90)
})

await runner.run()
process.exit(0)
