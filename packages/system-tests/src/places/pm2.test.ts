import { request } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Program } from '@sluice/test-harness/processes'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { programOf, startProgram } from './page.ts'

/** Clients are told apart by what a proxy says, no window of theirs ends, and a stall is no failure of Redis. */
const program = programOf('pm2').replace("'1m'", "'30d', trustProxy: 'loopback', deadline: '1s'")

let redis: RedisServer
let place: Program

beforeEach(async () => {
  redis = await startRedis()
})
afterEach(async () => {
  await place.stop()
  await redis.stop()
})

const start = async (source: string) => {
  place = await startProgram(source, { env: { REDIS_URL: redis.url } })
  await until(async () => new Set((await send(9, '192.0.2.99')).map(({ pid }) => pid)).size === 2, {
    what: 'both workers answer',
  })
}

interface Reply {
  readonly status: number
  /** The process that answered it, if it was admitted. */
  readonly pid: number
}

/** Sends so many requests, each on a connection of its own. */
function send(count: number, client: string): Promise<Reply[]> {
  const sendOne = () =>
    new Promise<Reply>((resolve, reject) => {
      const headers = { 'X-Forwarded-For': client }
      const sent = request(place.url, { headers, agent: false }, async (response) => {
        let text = ''
        for await (const chunk of response) text += chunk
        resolve({ status: response.statusCode as number, pid: Number(/\d+$/.exec(text)?.[0]) })
      })
      sent.on('error', reject).end()
    })
  return Promise.all(Array.from({ length: count }, sendOne))
}

const onlyAdmitted = (replies: readonly Reply[]) => replies.filter(({ status }) => status === 200)

/**
 * Sends until so many requests are admitted, and then some: the faster worker gets more of them.
 * @returns the admitted ones
 */
async function admitted(expected: number, client: string): Promise<Reply[]> {
  const replies: Reply[] = []
  await until(
    async () => {
      replies.push(...onlyAdmitted(await send(40, client)))
      return replies.length >= expected
    },
    { what: `${expected} requests are admitted` },
  )
  return [...replies, ...onlyAdmitted(await send(80, client))]
}

test('two workers share a limit: also when one dies, and while Redis is away', async () => {
  await start(program)
  const replies = await admitted(100, '192.0.2.1')
  expect(replies).toHaveLength(100)
  const pids = [...new Set(replies.map(({ pid }) => pid))] as [number, number]
  expect(pids).toHaveLength(2)

  const listening = () => place.output().match(/http:/g)?.length as number
  const before = listening()
  process.kill(pids[0], 'SIGKILL')
  await until(() => listening() > before, { what: 'another worker has taken its place' })
  expect(onlyAdmitted(await send(40, '192.0.2.1'))).toEqual([])

  await redis.stop()
  expect(await admitted(100, '192.0.2.2')).toHaveLength(100)
})

test.each([
  ['in memory', program.replace('store: redis, ', '')],
  ['without localShare, while Redis is away', program.replace(/, localShare: [^}]+ }/, ' }')],
])('%s, each admits the limit, as the page says', async (_, source) => {
  await start(source)
  await redis.stop()
  expect(await admitted(200, '192.0.2.1')).toHaveLength(200)
})
