import { createHash } from 'node:crypto'
import { Cluster } from 'ioredis'
import { type Client, type Decide, WINDOW_MS } from './terms.ts'

/** The cheapest commands that read a state and write one with a lifetime. */
const SCRIPT = `
local call, state, ttl = redis.call, ARGV[1], ARGV[2]
if #KEYS == 1 then
  local old = call('GET', KEYS[1])
  if old then call('SETRANGE', KEYS[1], '0', state) else call('SET', KEYS[1], state, 'PX', ttl) end
  return old or ''
end
local states = call('MGET', unpack(KEYS))
for i = 1, #KEYS do
  if states[i] then
    call('SETRANGE', KEYS[i], '0', state)
  else
    call('SET', KEYS[i], state, 'PX', ttl)
    states[i] = ''
  end
end
return table.concat(states)`
const SHA = createHash('sha1').update(SCRIPT).digest('hex')

/** A state as long as that of a window. */
const STATE = 'x'.repeat(32)

/**
 * The floor of all limiters on Redis: a script that reads a state and writes one, and decides
 * nothing. Requests of one turn of the event loop share a call, except in a cluster.
 *
 * @param count states of a request
 */
export function redisFloor(client: Client, count: number): Decide {
  const send = async (keys: readonly string[]) => {
    const args = [keys.length, ...keys, STATE, WINDOW_MS] as const
    const states = await client.evalsha(SHA, ...args).catch(() => client.eval(SCRIPT, ...args))
    return (states as string).length
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
