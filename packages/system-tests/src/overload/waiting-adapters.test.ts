// `maxWait` of the rate limit in every framework: a request waits for a slot, and leaves with its client.

import type { Server } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { openRaw, send } from '@sluice/test-suites/client'
import { listen, SERVERS } from './servers.ts'

let server: Server

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

test.each(Object.entries(SERVERS))('%s', async (_, start) => {
  const finish: (() => void)[] = []
  server = await start({
    classes: { critical: {}, normal: {} },
    queue: { max: 10, maxWait: '1m' },
    limit: { concurrent: 1, maxWait: '1m' },
    serve: () => new Promise((resolve) => finish.push(() => resolve('served'))),
  })
  const target = { host: '127.0.0.1', port: await listen(server) }
  const connected = (count: number) =>
    until(
      () => new Promise((resolve) => server.getConnections((_error, n) => resolve(n === count))),
      { what: `${count} are connected` },
    )
  const first = send(target)
  await until(() => finish.length === 1, { what: 'one has begun' })
  const leaving = openRaw(target, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await connected(2)
  const next = send(target)
  await connected(3)
  leaving.destroy()
  await connected(2)
  expect(finish).toHaveLength(1)
  finish[0]?.()
  expect((await first).status).toBe(200)
  await until(() => finish.length === 2, { what: 'the next has begun' })
  finish[1]?.()
  expect((await next).status).toBe(200)
})
