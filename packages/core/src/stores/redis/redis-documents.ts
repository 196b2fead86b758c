import { documentKey } from '../documents/document.ts'
import type { Documents } from '../store.ts'
import { type RedisConnection, Script } from './connection.ts'

/** The most bytes of a text that are read: somebody may have written a longer one, which no reader takes. */
const MAX_READ = 600_001

/** Replies the time, ms, and the text of KEYS[1] unless its version is still ARGV[2]. ARGV[1] is the time, or -1. */
const read = new Script(`local at = tonumber(ARGV[1])
if at < 0 then
  local time = redis.call('TIME')
  at = time[1] * 1000 + math.floor(time[2] / 1000)
end
at = string.format('%.0f', at)
local version = redis.call('GETRANGE', KEYS[1], 0, 15)
if version == ARGV[2] then return {at} end
return {at, redis.call('GETRANGE', KEYS[1], 0, ${MAX_READ - 1})}`)

/** Replaces the text of KEYS[1] by ARGV[2], for ARGV[3] ms, if its version is still ARGV[1]. */
const replace = new Script(`if redis.call('GETRANGE', KEYS[1], 0, 15) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`)

/** Keeps each document under a key. */
export function redisDocuments(connection: RedisConnection): Documents<'async'> {
  return {
    read(prefix, name, known) {
      const args = [`${connection.time().now}`, known]
      return connection.run({ script: read, args }, [documentKey(prefix, name)], (reply) => {
        const [at, text] = reply as unknown[]
        return { at: Number(String(at)), text: text === undefined ? undefined : String(text) }
      })
    },
    replace(prefix, name, known, text, ttlMs) {
      const args = [known, text, `${Math.max(ttlMs, connection.time().minTtlMs)}`]
      const keys = [documentKey(prefix, name)]
      return connection.run({ script: replace, args }, keys, (reply) => Number(reply) === 1)
    },
  }
}
