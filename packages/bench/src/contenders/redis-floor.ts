import { Cluster } from 'ioredis'
import type { Client, Decide } from './redis.ts'
import { WINDOW_MS } from './terms.ts'

/** The cheapest commands that read a state and write one with a lifetime. */
const SCRIPT = `
local call, state, ttl = redis.call, ARGV[1], ARGV[2]
local function write(key, old)
  if old then call('SET', key, state, 'KEEPTTL') else call('SET', key, state, 'PX', ttl) end
end
if #KEYS == 1 then
  local old = call('GET', KEYS[1])
  write(KEYS[1], old)
  return { old }
end
local states = call('MGET', unpack(KEYS))
for i = 1, #KEYS do write(KEYS[i], states[i]) end
return states`

interface Floor {
  readAndWrite(keys: number, ...args: (string | number)[]): Promise<unknown[]>
}

/** As long as the state of a window. */
const STATE = 'x'.repeat(32)

/**
 * What no limiter on Redis can go below: a script that reads a state and writes one, and decides
 * nothing. Requests of one turn of the event loop share a call, except in a cluster.
 *
 * @param count states of a request
 */
export function redisFloor(client: Client, count: number): Decide {
  client.defineCommand('readAndWrite', { lua: SCRIPT })
  const { readAndWrite } = client as unknown as Floor
  const send = async (keys: readonly string[]) => {
    const states = await readAndWrite.call(client, keys.length, ...keys, STATE, WINDOW_MS)
    return states.length
  }
  const keysOf = (key: string) => Array.from({ length: count }, (_, i) => `{${key}}:${i}`)
  if (client instanceof Cluster) return (key) => send(keysOf(key))
  let keys: string[] = []
  let sent: Promise<number> | undefined
  return (key) => {
    keys.push(...keysOf(key))
    sent ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      const all = keys
      keys = []
      sent = undefined
      return send(all)
    })
    return sent
  }
}
