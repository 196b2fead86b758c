import { afterAll, expect } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import type { RedisServer } from '@sluice/test-harness/redis'

/** A key and the moment at which it will be gone, ms on the server's clock; -1: never. */
export interface Expiry {
  readonly key: string
  readonly at: number
}

const EXPIRIES = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
-- Redis 6.2 does not have PEXPIRETIME, and its TIME goes on during a script.
local function expiry(key)
  local before, ttl
  repeat
    before = now()
    ttl = redis.call('PTTL', key)
  until now() == before
  return ttl < 0 and ttl or before + ttl
end
-- The application has given the client a limit of its own, until it ends that.
local function isEndless(key)
  if not string.find(key, '}:own:', 1, true) then return false end
  local blockedUntil, ownUntil = struct.unpack('<dd', redis.call('GET', key))
  return ownUntil == math.huge
end
local reply = {}
for database = 0, ARGV[1] - 1 do
  if database > 0 then redis.call('SELECT', database) end
  for _, key in ipairs(redis.call('KEYS', '*')) do
    if not isEndless(key) then
      reply[#reply + 1] = key
      reply[#reply + 1] = expiry(key)
    end
  end
end
return reply`

/**
 * The expiry of every key in the first so many databases, without the terms of the keyspaces and clients whose own limit
 * has no end.
 */
export async function expiries(redis: RedisServer, databases = 1): Promise<Expiry[]> {
  const reply = (await redis.command('EVAL', EXPIRIES, 0, databases)) as (string | number)[]
  const all = Array.from({ length: reply.length / 2 }, (_, i) => {
    return { key: String(reply[2 * i]), at: Number(reply[2 * i + 1]) }
  })
  expect(all.filter(({ at }) => at < 0)).toEqual([])
  return all.filter(({ key }) => !isOfTerms(key))
}

/** Whether it is a key of no client, which holds the terms of a keyspace. */
export function isOfTerms(key: string): boolean {
  return key.includes(':{#}:')
}

/** Expects that there are keys, and that none of them stays for ever. */
export function expectAllToExpire(keys: readonly Expiry[]): void {
  expect(keys.length).toBeGreaterThan(0)
  expect(keys.filter(({ at }) => at < 0)).toEqual([])
}

/** As `useRedis`. After the tests of the file there must be keys, and none that stays for ever. */
export function useExpiringRedis(): ReturnType<typeof useRedis> {
  // Before the hook that stops the server.
  afterAll(async () => expectAllToExpire(await expiries(redis.server)))
  const redis = useRedis()
  return redis
}
