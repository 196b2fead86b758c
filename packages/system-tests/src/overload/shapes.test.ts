// What may stand around a server that sheds load: the processes of a cluster, and a compressor of responses.

import { expect, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { startProgram } from '../places/page.ts'

const CLUSTER = `
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { shedLoad } from '@sluice/node/overload'

if (cluster.isPrimary) {
  cluster.fork()
  cluster.fork()
} else {
  const shed = shedLoad({ queue: { max: 5, maxWait: '1s' }, skip: ({ url }) => url === '/health' })
  createServer((request, response) => {
    response.setHeader('x-worker', cluster.worker.id)
    shed(request, response, () => setTimeout(() => response.end('served'), request.url === '/' ? 200 : 0))
  }).listen()
}
`

test('each worker of a cluster sheds what it can not serve, and answers everybody', async () => {
  const { url, stop } = await startProgram(CLUSTER)
  try {
    const ask = async (path: string) => {
      // A connection that stays open leads to the same worker.
      const response = await fetch(`${url}${path}`, { headers: { connection: 'close' } })
      await response.text()
      return { status: response.status, worker: response.headers.get('x-worker') }
    }
    // The address is known when one of them listens.
    await until(
      async () =>
        new Set(
          (await Promise.all([1, 2, 3, 4].map(() => ask('/health')))).map(({ worker }) => worker),
        ).size === 2,
      { what: 'both workers listen' },
    )
    const answers = await Promise.all(Array.from({ length: 300 }, () => ask('/')))
    const kinds = new Set(answers.map(({ status, worker }) => `${status} by ${worker}`))
    expect([...kinds].sort()).toEqual(['200 by 1', '200 by 2', '503 by 1', '503 by 2'])
  } finally {
    await stop()
  }
})

const COMPRESSED = `
import compress from '@fastify/compress'
import { shedLoad } from '@sluice/fastify/overload'
import fastify from 'fastify'

const app = fastify()
await app.register(shedLoad, { queue: { max: 1, maxWait: '1s' } })
await app.register(compress, { threshold: 0, encodings: ['gzip'] })
app.get('/', async (_, reply) => reply.type('text/plain').send('served'.repeat(1000)))
app.server.listen()
await app.ready()
`

test('behind a load shedder a compressor ends its responses, so their places are free again', async () => {
  const { url, stop } = await startProgram(COMPRESSED)
  try {
    // More than there are places.
    for (let i = 0; i < 100; i += 1) {
      const response = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
      expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip'])
      expect(await response.text()).toBe('served'.repeat(1000))
    }
  } finally {
    await stop()
  }
})
