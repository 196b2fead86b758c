// TLS and a password are the client's affair: with them in order, the store works as ever.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { describeUnless } from '@sluice/test-harness/jest'
import {
  freePorts,
  patient,
  type RedisServer,
  startRedis,
  whyNoTls,
} from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { createLimiter } from '../../index.ts'
import { type Open, ofIoRedis, ofNodeRedis } from './testing/every-client.ts'

const password = 'a secret'

const noTls = whyNoTls()
let folder: string
let redis: RedisServer
let tlsPort: number
let ca: Buffer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
  tlsPort = (await freePorts(1))[0]!
  redis = await startRedis({ args: noTls ? [] : withCertificate() })
  // Only now: the kit itself knows no password.
  await redis.command('CONFIG', 'SET', 'requirepass', password)
})
afterAll(async () => {
  await redis.stop()
  rmSync(folder, { recursive: true })
})

/** The server's options for TLS, with a certificate of its own making, which `ca` then is. */
function withCertificate(): string[] {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const output = ['-keyout', key, '-out', certificate, '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...output], { stdio: 'pipe' })
  ca = readFileSync(certificate)
  const files = ['--tls-cert-file', certificate, '--tls-key-file', key]
  return ['--tls-port', `${tlsPort}`, ...files, '--tls-auth-clients', 'no']
}

type Connect = () => Open | Promise<Open>
const socket = { host: '127.0.0.1', port: 0 }
const withPassword: Record<string, Connect> = {
  'ioredis with a password': () => ofIoRedis(new Redis(redis.url, { password })),
  'node-redis with a password': () => ofNodeRedis(createClient({ url: redis.url, password })),
}
const withTls: Record<string, Connect> = {
  'ioredis with TLS': () => {
    return ofIoRedis(new Redis({ ...socket, port: tlsPort, password, tls: { ca } }))
  },
  'node-redis with TLS': () => {
    return ofNodeRedis(
      createClient({ socket: { ...socket, port: tlsPort, tls: true, ca }, password }),
    )
  },
}

async function limits(way: string, connect: Connect): Promise<void> {
  const { client, close } = await connect()
  const limiter = createLimiter({ ...patient, store: client, limit: 2, window: '1d' })
  const allowed = []
  for (let i = 0; i < 3; i += 1) allowed.push((await limiter.consume(way)).allowed)
  expect(allowed).toEqual([true, true, false])
  close()
}

test.each(Object.entries(withPassword))('%s', limits)
describeUnless(noTls, 'on a TLS port', () => {
  test.each(Object.entries(withTls))('%s', limits)
})
