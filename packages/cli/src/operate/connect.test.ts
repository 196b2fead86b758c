// Every way to a store. What the command prints is read where it runs as a process of its own.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { scratch } from '@sluice/test-harness/jest'
import {
  freePorts,
  patient,
  type RedisServer,
  startCluster,
  startRedis,
  startSentinel,
  whyNoTls,
} from '@sluice/test-harness/redis'
import { ended, startCli } from '../testing/run-cli.ts'
import { type ConnectFlags, connect } from './connect.ts'
import type { Connection } from './connection.ts'

const { folder, file } = scratch()
const password = 'a secret'
const isSecure = whyNoTls() === undefined
let redis: RedisServer
let tlsPort: number
const certificate = join(folder, 'certificate.pem')
beforeAll(async () => {
  tlsPort = (await freePorts(1))[0]!
  redis = await startRedis({ args: isSecure ? withCertificate() : [] })
  // Only now: the kit itself knows no password.
  await redis.command('CONFIG', 'SET', 'requirepass', password)
})
afterAll(() => redis.stop())

function withCertificate(): string[] {
  const key = join(folder, 'key.pem')
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const output = ['-keyout', key, '-out', certificate, '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...output], { stdio: 'pipe' })
  const files = ['--tls-cert-file', certificate, '--tls-key-file', key]
  return ['--tls-port', `${tlsPort}`, ...files, '--tls-auth-clients', 'no']
}

/** Counts some clients in the store, and lists them by it. */
async function listed({ store }: Connection): Promise<string[]> {
  const limiter = createLimiter({ ...patient, store, limit: 5, window: '1d' })
  for (const key of ['a', 'b', 'c', 'd', 'e']) await limiter.consume(key)
  const keys = []
  for await (const { key } of store.inspect()) keys.push(key)
  return keys.sort()
}

async function works(flags: ConnectFlags, masters = 1): Promise<void> {
  const connection = await connect(flags)
  try {
    expect(await listed(connection)).toEqual(['a', 'b', 'c', 'd', 'e'])
    const health = await connection.health()
    expect(health).toHaveLength(masters)
    expect(health[0]).toMatchObject({ role: 'master', memory: { evictedKeys: 0 } })
  } finally {
    connection.close()
  }
}

const withPassword = () => `redis://:${encodeURIComponent(password)}@127.0.0.1:${redis.port}`

test('one server, with a password', () => works({ redis: withPassword() }))

test('a cluster, of which the URL names one node', async () => {
  const cluster = await startCluster()
  await works({ redis: cluster.nodes[1]!.url }, 3).finally(() => cluster.stop())
})

test('a master behind Sentinel', async () => {
  const { name, sentinels, stop } = await startSentinel({ replicas: 0, sentinels: 1 })
  await works({ redis: `redis+sentinel://127.0.0.1:${sentinels[0]!.port}/${name}` }).finally(stop)
})

test('a server behind Sentinel that could be in a cluster is that one server', async () => {
  const server = { cluster: true }
  const { name, sentinels, stop } = await startSentinel({ replicas: 0, sentinels: 1, server })
  try {
    const redis = `redis+sentinel://127.0.0.1:${sentinels[0]!.port}/${name}`
    const connection = await connect({ redis })
    const [found, ...others] = await connection.health().finally(() => connection.close())
    expect([found?.role, others]).toEqual(['master', []])
  } finally {
    await stop()
  }
})

test.each([
  ['ioredis', "const { Redis } = require('ioredis')\nmodule.exports = new Redis(URL)"],
  [
    'a function that makes one',
    "const { Redis } = require('ioredis')\nmodule.exports = async () => new Redis(URL)",
  ],
  ['options that make none', 'module.exports = {}'],
  ['nothing', 'module.exports = undefined'],
  ['an error', "throw new Error('no such thing')"],
])('a file that exports %s', async (what, source) => {
  const given = `const URL = ${JSON.stringify(withPassword())}\n`
  const required = require.resolve('ioredis')
  const path = file(
    `${what.replaceAll(' ', '-')}.cjs`,
    given + source.replace("'ioredis'", JSON.stringify(required)),
  )
  const works_ = works({ client: path })
  if (what === 'ioredis' || what.startsWith('a function')) return works_
  await expect(works_).rejects.toThrow(/--client|client of ioredis/)
})

const both = { REDIS_URL: 'redis://a', DATABASE_URL: 'postgres://a' }

test.each([
  [{}, {}, /^say where the store is: --redis .* --postgres/],
  [{}, { REDIS_URL: '', DATABASE_URL: 'mssql://a' }, /^say where the store is/],
  [{}, { ...both, DATABASE_URL: 'mysql://a' }, / are both set: .* --redis or --mysql/],
  [{}, both, /^REDIS_URL and DATABASE_URL are both set: .* --redis or --postgres/],
  [{ redis: 'redis://a', client: 'b.js' }, {}, /^--redis and --client exclude each other/],
  [{ redis: 'redis://a', postgres: 'postgres://b' }, {}, /^--redis and --postgres exclude/],
  [{ postgres: 'redis://:secret@a' }, {}, /^--postgres: expected postgres:\/\/(?!.*secret)/],
  [{ mysql: 'redis://:secret@a' }, {}, /^--mysql: expected mysql:\/\/(?!.*secret)/],
  [{ redis: '' }, { DATABASE_URL: 'postgres://a' }, /^--redis: expected redis:/],
  [{ client: 'nowhere.js' }, both, /can't be loaded/],
])('%j with %j is refused', async (flags, env, message) => {
  await expect(connect(flags, env)).rejects.toThrow(message)
})

test('the variable names the store if no flag does', async () => {
  const name = (key: string) => ({ [key]: withPassword() })
  const connection = await connect({}, { ...name('REDIS_URL'), DATABASE_URL: 'mssql://a' })
  expect(await listed(connection)).toHaveLength(5)
  await expect(connect({ schema: 'limits' }, name('REDIS_URL'))).rejects.toThrow('--schema')
  connection.close()
})

test('where nothing listens, and with a wrong password, it fails at once and says why', async () => {
  await expect(connect({ redis: 'redis://127.0.0.1:1' })).rejects.toThrow(/ECONNREFUSED/)
  const wrong = `redis://:mistaken@127.0.0.1:${redis.port}`
  await expect(connect({ redis: wrong })).rejects.toThrow(/^(?!.*mistaken).*WRONGPASS/)
  const none = `redis://127.0.0.1:${redis.port}`
  await expect(connect({ redis: none })).rejects.toThrow(/NOAUTH/)
  if (isSecure) {
    const unknown = `rediss://:secret@127.0.0.1:${tlsPort}`
    await expect(connect({ redis: unknown })).rejects.toThrow(/certificate/)
  }
})

test('as a process, with TLS where the server has it', async () => {
  const secret = encodeURIComponent(password)
  const url = isSecure ? `rediss://:${secret}@127.0.0.1:${tlsPort}` : withPassword()
  const env = { REDIS_URL: url, NODE_EXTRA_CA_CERTS: isSecure ? certificate : '' }
  const child = await startCli(['top', '--once', '--json'], env)
  const { code, stdout, stderr } = await ended(child)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ blocked: 0 })
})
