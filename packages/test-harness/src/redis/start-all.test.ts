import { expect, test } from '@jest/globals'
import { startRedis } from './server.ts'
import { startAll } from './start-all.ts'

test('when one server fails to start, its error is thrown and none is left', async () => {
  const starting = startRedis()
  const failing = startRedis({ args: ['--no-such-directive', '1'] })
  await expect(startAll([starting, failing])).rejects.toThrow(/no-such-directive/)
  await expect((await starting).command('PING')).rejects.toThrow()
})
