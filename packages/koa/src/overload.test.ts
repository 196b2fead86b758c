import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, jest, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { send } from '@sluice/test-suites/client'
import { shedLoad } from './overload.ts'
import { VERSIONS } from './testing.ts'

/** So many begin before the process knows how long they take. */
const PLACES = 20

afterEach(() => void jest.restoreAllMocks())

test.each(VERSIONS)(
  'an application of %s that fails when its client has left frees its place',
  async (_, Koa) => {
    // Time stands still: the places stay as many as at the start.
    jest.spyOn(performance, 'now').mockReturnValue(1000)
    const app = new Koa()
    app.silent = true
    app.use(shedLoad())
    let begun = 0
    let fail = () => {}
    const failed = new Promise<void>((_, reject) => {
      fail = () => reject(new Error('too late'))
    })
    app.use(async (ctx) => {
      begun += 1
      if (begun <= PLACES) await failed
      ctx.body = 'served'
    })
    const server = createServer(app.callback())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const clients = Array.from({ length: PLACES }, () => connect(port, '127.0.0.1'))
    for (const each of clients) each.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => begun === PLACES, { what: 'all places are taken' })
    for (const each of clients) each.destroy()
    const connections = () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
    await until(async () => (await connections()) === 0, { what: 'they have left' })
    fail()
    expect((await send({ host: '127.0.0.1', port })).body).toBe('served')
    server.close()
  },
)
