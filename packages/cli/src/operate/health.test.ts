import { expect, test } from '@jest/globals'
import { healthOf } from './health.ts'

test('a Valkey says its own version, not that of the Redis it is compatible with', async () => {
  const info = async () =>
    '# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.1.3\r\nrole:master\r\nmaxmemory:0\r\n'
  expect(await healthOf({ info })).toMatchObject([
    {
      version: '8.1.3',
      role: 'master',
      connectedClients: undefined,
      memory: { maxBytes: 0, usedBytes: undefined },
    },
  ])
})
