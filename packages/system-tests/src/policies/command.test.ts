// The command changes the limit of a running application, as docs/live-policies.md says.

import { afterEach, expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/core'
import { useRedis } from '@sluice/test-harness/jest'
import { patient, until } from '@sluice/test-harness/redis'
import { runCli } from '../../../cli/src/testing/run-cli.ts'

const redis = useRedis()

const opened: Limiter<'async'>[] = []
afterEach(() => {
  for (const limiter of opened.splice(0)) limiter.close()
})

/** An application that limits; its code says 100. */
function start(): Limiter<'async'> {
  const terms = { name: 'api', limit: 100, window: '1m', live: true } as const
  const limiter = createLimiter({ ...patient, ...terms, store: redis.client }) as Limiter<'async'>
  opened.push(limiter)
  return limiter
}

async function sluice(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli([...args, '--redis', redis.server.url])
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.anything() })
  return stdout
}

const limitOf = async (limiter: Limiter<'async'>) => (await limiter.peek('ada')).limit

/** Each takes over the limit, on the next of its readings of the store. */
async function expectLimit(limit: number): Promise<void> {
  for (const limiter of opened)
    await until(async () => (await limitOf(limiter)) === limit, { what: `the limit is ${limit}` })
}

test('set, in a process that runs and in one that starts later, and unset', async () => {
  await start().consume('ada')
  await sluice('policy', 'set', 'api', '--limit', '10', '--yes')
  await expectLimit(10)
  await start().consume('bob')
  await expectLimit(10)
  expect(await sluice('policy', 'list')).toContain('10')
  await sluice('policy', 'set', 'api', '--limit', '20', '--yes')
  await expectLimit(20)
  await sluice('policy', 'unset', 'api', '--yes')
  await expectLimit(100)
})

test('for a time: then the limit of the code holds again', async () => {
  await start().consume('ada')
  await sluice('policy', 'set', 'api', '--limit', '10', '--for', '3s', '--yes')
  await expectLimit(10)
  await expectLimit(100)
})
