import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { isOpenToOthers, type Program, startExample } from '@sluice/test-harness/examples'
import { useRedis } from '@sluice/test-harness/jest'
import { until } from '@sluice/test-harness/redis'
import { WebSocket } from 'ws'
import { folderOf } from './folder-of.ts'

const folder = folderOf('websocket')

const redis = useRedis()

describe.each(['memory', 'Redis'])('with %s', (store) => {
  let example: Program
  const clients: WebSocket[] = []

  beforeAll(async () => {
    example = await startExample(folder, store === 'Redis' ? { REDIS_URL: redis.server.url } : {})
  })
  afterEach(() => {
    for (const each of clients.splice(0)) each.terminate()
  })
  afterAll(async () => {
    await example?.stop()
  })

  /** A connection, or the status with which the handshake was refused. */
  function open(): Promise<WebSocket | number> {
    const client = new WebSocket(example.url.replace('http', 'ws'))
    clients.push(client)
    client.on('error', () => {})
    return new Promise((resolve) => {
      client.once('open', () => resolve(client))
      client.once('unexpected-response', (_, { statusCode }) => resolve(statusCode as number))
    })
  }

  test('three connections at the same time; a fourth when one has closed', async () => {
    const [first] = (await Promise.all([open(), open(), open()])) as [WebSocket, unknown, unknown]
    expect(await open()).toBe(429)
    first.close()
    await until(async () => (await open()) instanceof WebSocket, {
      everyMs: 100,
      what: 'the slot is free',
    })
  })

  test('ten messages at once, and too many of them close the connection', async () => {
    const client = (await until(
      async () => {
        const opened = await open()
        return opened instanceof WebSocket ? opened : undefined
      },
      { everyMs: 100, what: 'a slot is free' },
    )) as WebSocket
    const answers: string[] = []
    client.on('message', (text) => answers.push(String(text)))
    for (let i = 0; i < 100; i += 1) client.send(`${i}`)
    const [code, reason] = await once(client, 'close')
    expect([code, String(reason)]).toEqual([1008, 'Too many messages'])
    expect(answers.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, i) => `You said ${i}`))
  })

  test('it listens on loopback', async () => {
    expect(await isOpenToOthers(example.url)).toBe(false)
  })
})
