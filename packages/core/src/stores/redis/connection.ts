import { setupError } from '../../errors/setup-error.ts'
import type {
  IoRedisBytes,
  IoRedisClient,
  NodeRedisClient,
  RedisClient,
  ValkeyGlideClient,
} from './client.ts'
import { inServersWords } from './valkey-glide.ts'

/** The two commands of a store, over whichever client. Text in their replies comes as bytes. */
export interface Connection {
  /** True where the keys of one call must share a slot. */
  readonly isCluster: boolean
  evalsha(sha: string, keys: string[], args: string[]): Promise<unknown>
  eval(script: string, keys: string[], args: string[]): Promise<unknown>
}

/** The two commands over a client. Used like this, a client never resends, not even after `NOSCRIPT`. */
export function connectionOf(client: RedisClient): Connection {
  if ('customCommand' in client) return overValkeyGlide(client)
  return 'evalsha' in client ? overIoRedis(client) : overNodeRedis(client)
}

function overIoRedis(client: IoRedisClient): Connection {
  const bytes = client as IoRedisClient & IoRedisBytes
  return {
    isCluster: client.isCluster === true,
    evalsha: (sha, keys, args) => bytes.evalshaBuffer(sha, keys.length, ...keys, ...args),
    eval: (script, keys, args) => bytes.evalBuffer(script, keys.length, ...keys, ...args),
  }
}

/** node-redis' `RESP_TYPES.BLOB_STRING`: the type of a reply that is text. */
const TEXT = 36

function overNodeRedis(client: NodeRedisClient): Connection {
  // Where such a client runs there is Buffer, even if a bundle for the web asks for it.
  const bytes = client.withTypeMapping({ [TEXT]: globalThis.Buffer })
  return {
    isCluster: typeof client.nodeClient === 'function',
    evalsha: async (sha, keys, args) => {
      checkOpen(client)
      return bytes.evalSha(sha, { keys, arguments: args })
    },
    eval: (script, keys, args) => bytes.eval(script, { keys, arguments: args }),
  }
}

/** valkey-glide's `Decoder.Bytes`. */
const BYTES = 0

/**
 * The two commands as plain ones: `invokeScript` takes only scripts of its package, and loads them by itself.
 */
function overValkeyGlide(client: ValkeyGlideClient): Connection {
  const send = async (...command: string[]) => {
    try {
      return await client.customCommand(command, { decoder: BYTES })
    } catch (error) {
      throw inServersWords(error)
    }
  }
  return {
    isCluster: typeof client.invokeScriptWithRoute === 'function',
    evalsha: (sha, keys, args) => send('EVALSHA', sha, `${keys.length}`, ...keys, ...args),
    eval: (script, keys, args) => send('EVAL', script, `${keys.length}`, ...keys, ...args),
  }
}

/** Asked before each call: one to a cluster or a pool that is not open fails obscurely, or waits. */
function checkOpen({ isOpen }: NodeRedisClient): void {
  if (isOpen) return
  const expected = 'a node-redis client that is connected'
  throw setupError('SLUICE_REDIS_NOT_CONNECTED', expected, 'a client whose isOpen is false')
}
