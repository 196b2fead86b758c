import { UsageError } from '@sluice/terminal/usage-error'
import type { RedisOptions } from 'ioredis'

const EXPECTED =
  'expected redis://host:6379, rediss://… for TLS, or redis+sentinel://host:26379,host:26379/master'
const SENTINEL_PORT = 26_379
const REDIS_PORT = 6379

/**
 * The options of ioredis for a URL: `redis:` or, with TLS, `rediss:`; `redis+sentinel:` (`rediss+…`)
 * with the sentinels, comma-separated, and the name of the master. User and password stand before the
 * host, the number of the database at the end.
 *
 * @throws UsageError, which never quotes the URL: it may have a password
 */
export function optionsOfUrl(text: string): RedisOptions {
  const [, scheme = '', authority = '', path = ''] =
    /^(rediss?(?:\+sentinel)?):\/\/([^/?#]*)\/?([^?#]*)$/.exec(text) ?? []
  const at = authority.lastIndexOf('@')
  const hosts = authority.slice(at + 1)
  if (hosts === '') throw new UsageError(`--redis: ${EXPECTED}`)
  const common = { ...credentialsIn(authority.slice(0, Math.max(0, at))), ...tlsOf(scheme) }
  if (!scheme.endsWith('+sentinel')) {
    return { ...common, ...addressOf(hosts, REDIS_PORT), db: databaseIn(path) }
  }
  const [name, db = ''] = path.split('/')
  if (!name) throw new UsageError('--redis: name the master after the sentinels: …:26379/mymaster')
  const sentinels = hosts.split(',').map((host) => addressOf(host, SENTINEL_PORT))
  return { ...common, sentinels, name: decoded(name), db: databaseIn(db) }
}

function credentialsIn(text: string): Pick<RedisOptions, 'username' | 'password'> {
  if (text === '') return {}
  const colon = text.indexOf(':')
  const username = decoded(colon < 0 ? text : text.slice(0, colon))
  return {
    ...(username === '' ? {} : { username }),
    ...(colon < 0 ? {} : { password: decoded(text.slice(colon + 1)) }),
  }
}

function tlsOf(scheme: string): Pick<RedisOptions, 'tls' | 'enableTLSForSentinelMode'> {
  return scheme.startsWith('rediss') ? { tls: {}, enableTLSForSentinelMode: true } : {}
}

function addressOf(text: string, usual: number): { host: string; port: number } {
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = digits === undefined ? usual : Number(digits)
  if (host === undefined || port > 65_535) throw new UsageError(`--redis: ${EXPECTED}`)
  return { host, port }
}

function databaseIn(path: string): number {
  if (/^\d*$/.test(path)) return Number(path)
  throw new UsageError('--redis: expected the number of a database at the end, such as /0')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new UsageError('--redis: write special characters of the password as %40 and the like')
  }
}
