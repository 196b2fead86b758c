// Run by Node's own test runner: streams behind @fastify/compress, which pipes them into a compressor and
// gives Fastify that. What has to end is the application's own stream.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, pipeline, Readable, Transform } from 'node:stream'
import { afterEach, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import { rateLimit } from '@sluice/fastify'
import { until } from '@sluice/test-harness/redis'
import fastify, { type FastifyInstance } from 'fastify'

/** It is compressed before more has come. */
const LARGE = 'first'.repeat(1000)

let app: FastifyInstance
afterEach(() => app.close())

/** Serves what `body` makes to a client that leaves once it has some of it. */
async function leftBy(body: () => Readable): Promise<void> {
  app = fastify({ forceCloseConnections: true })
  await app.register(rateLimit, {
    policies: [
      { name: 'slots', concurrent: 1, hold: '1h' },
      { name: 'tokens', limit: 1000, window: '1h', unit: 'tokens', cost: 200, settle: () => 14 },
    ],
  })
  await app.register(compress, { zlibOptions: { flush: constants.Z_SYNC_FLUSH } })
  app.get('/', (_, reply) => reply.type('text/plain').send(body()))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const headers = { 'accept-encoding': 'gzip' }
  const client = request({ host: '127.0.0.1', port, headers, agent: false })
  client.on('error', () => {}).end()
  const [response] = await once(client, 'response')
  assert.equal(response.headers['content-encoding'], 'gzip')
  await once(
    response.on('error', () => {}),
    'data',
  )
  client.destroy()
}

const left = async () =>
  (await app.rateLimit.peek('127.0.0.1')).policies.map(({ remaining }) => remaining).join()

/** A body whose source works until it is told to finish. */
function slow() {
  const source = { finish: () => {}, hasEnded: false }
  async function* parts() {
    try {
      yield LARGE
      await new Promise<void>((resolve) => {
        source.finish = resolve
      })
      yield 'last'
    } finally {
      source.hasEnded = true
    }
  }
  return { source, body: () => Readable.from(parts()) }
}

const through = (): Transform =>
  new Transform({ transform: (chunk, _, done) => done(null, chunk) }).on('error', () => {})

for (const [name, wrap] of [
  ['a stream', (source: Readable) => source],
  [
    'a stream through one of the application',
    (source: Readable) => pipeline(source, through(), () => {}),
  ],
] as const)
  test(`${name}: it is settled, and its slot is free, when the source has ended`, async () => {
    const { source, body } = slow()
    await leftBy(() => wrap(body()) as Readable)
    for (let i = 0; i < 50; i += 1) await turn()
    assert.deepEqual([await left(), source.hasEnded], ['0,800', false])
    source.finish()
    await until(async () => (await left()) === '1,986', { what: 'it is free and settled' })
    assert.ok(source.hasEnded)
  })

test('a stream that the application still writes to keeps its slot', async () => {
  const written = new PassThrough().on('error', () => {})
  written.write(LARGE)
  await leftBy(() => written)
  await until(() => written.destroyed, { what: 'it is destroyed' })
  for (let i = 0; i < 50; i += 1) await turn()
  assert.equal(await left(), '0,800')
})
