import { hash } from '#platform'
import { setupError } from '../../errors/setup-error.ts'
import { textOf } from '../../errors/thrown.ts'
import { warnOnce } from '../../errors/warning.ts'
import { madeOnce } from '../../made-once.ts'
import { attempt } from '../../maybe-promise.ts'
import {
  type BunRedisClient,
  type IoRedisBytes,
  type IoRedisClient,
  isBun,
  isCluster,
  isUpstash,
  type NodeRedisClient,
  type RedisClient,
  type UpstashClient,
  type ValkeyGlideClient,
} from './client.ts'
import { fromDecimals, inDecimals } from './decimals.ts'
import { ALL_SHARDS, shardOfName } from './hash-slots.ts'
import { REDIS_ACTIONS } from './setup-actions.ts'
import { inServersWords, isReadOnly, toSetupError, withoutCommand } from './setup-error.ts'

/** How long `onReadOnly` is not called again, ms. */
const QUIET_MS = 1000

/** One Lua program. */
export class Script {
  readonly text: string
  /** Made when it is first sent: most processes send few of all scripts. */
  sha = ''

  constructor(text: string) {
    this.text = text
  }
}

/** The scripts that reply with decimal numbers, by those that reply with bytes. */
const textual = new WeakMap<Script, Script>()

function textualOf(script: Script): Script {
  return madeOnce(textual, script, () => new Script(inDecimals(script.text)))
}

/** A script and its arguments. */
export interface ScriptCall {
  readonly script: Script
  readonly args: string[]
}

/** When a script is to think it is (ms; -1: the server's clock), and how long keys live at least (ms). */
export interface ScriptTime {
  readonly now: number
  readonly minTtlMs: number
}

/** Runs scripts over the client of a store. Nothing is kept on the client. */
export class RedisConnection {
  /** True where each call is a request over HTTP, which calls of the same moment may share. */
  readonly isRest: boolean
  /** True where the keys of one call must share a hash slot. */
  readonly isCluster: boolean
  /** Runs a script that replies with numbers in bytes, as `run` does. */
  readonly runForNumbers: RedisConnection['run']
  readonly #send: Send
  readonly #clock: (() => number) | undefined
  readonly #onReadOnly: (() => unknown) | undefined
  #quietUntil = -Infinity
  /** The shards to which each script was sent whole, as bits; without a cluster the first one. */
  #sentWhole = new WeakMap<Script, number>()
  readonly #everyShard: number

  /**
   * @param clock the clock in place of the server's, ms
   * @param onReadOnly called, at most once a second, when the server says that it is a read-only replica.
   *   Nothing that it throws escapes
   */
  constructor(client: RedisClient, clock?: () => number, onReadOnly?: () => unknown) {
    this.isCluster = isCluster(client)
    this.#everyShard = this.isCluster ? ALL_SHARDS : 1
    this.#send = senderOf(client)
    this.isRest = isUpstash(client)
    this.runForNumbers = this.isRest || isBun(client) ? this.#runInDecimals : this.run
    this.#clock = clock
    this.#onReadOnly = onReadOnly
  }

  time(): ScriptTime {
    if (this.#clock === undefined) return { now: -1, minTtlMs: 1000 }
    // TTLs pass on the server's clock: a key must not go while the given one stands still.
    return { now: this.#clock(), minTtlMs: 3_600_000 }
  }

  /**
   * Runs a script. The first call of a process sends it whole, so that none after it overtakes it; all others send its
   * digest. A server that has lost it receives it again with the very call that finds out: `NOSCRIPT` says that nothing
   * was executed, so it is safe to send it whole then; after any other error it might count twice. It may have lost
   * the others too, or never got one that failed: their next calls send them whole.
   */
  run<T>(call: ScriptCall, keys: string[], read: (reply: unknown) => T): Promise<T> {
    const { script, args } = call
    if (this.#sentWhole.get(script) !== this.#everyShard && this.#isFirst(script, keys))
      return this.#runWhole(call, keys, read)
    return this.#send('EVALSHA', script.sha, keys, args).then(read, (error: unknown) => {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT'))
        return this.fail(error)
      this.#sentWhole = new WeakMap()
      this.#isFirst(script, keys)
      return this.#runWhole(call, keys, read)
    })
  }

  #runWhole<T>({ script, args }: ScriptCall, keys: string[], read: (reply: unknown) => T) {
    script.sha ||= hash('sha1', script.text, 'utf8', 'hex')
    return this.#send('EVAL', script.text, keys, args).then(read, (error: unknown) => {
      this.#sentWhole.delete(script)
      return this.fail(error)
    })
  }

  #isFirst(script: Script, [key]: readonly string[]): boolean {
    const sent = this.#sentWhole.get(script) ?? 0
    const shard = this.isCluster ? 1 << shardOfName(key as string) : 1
    this.#sentWhole.set(script, sent | shard)
    return (sent & shard) === 0
  }

  /** Runs a script that replies with numbers in bytes, where every reply is text: bytes would be lost. */
  #runInDecimals<T>(call: ScriptCall, keys: string[], read: (reply: unknown) => T) {
    const inText = { script: textualOf(call.script), args: call.args }
    return this.run(inText, keys, (reply) => read(fromDecimals(reply)))
  }

  /** Throws the failure of a command, in words where it is a mistake in how Redis is set up. */
  readonly fail = (error: unknown): never => {
    const failure = toSetupError(error, this.isCluster)
    if (isReadOnly(failure)) this.#tellOfReplica()
    throw failure
  }

  #tellOfReplica(): void {
    const now = performance.now()
    if (this.#onReadOnly === undefined || now < this.#quietUntil) return
    this.#quietUntil = now + QUIET_MS
    attempt(this.#onReadOnly, warnOfCallback)
  }
}

function warnOfCallback(error: unknown): void {
  warnOnce(
    'SLUICE_ON_READ_ONLY',
    `onReadOnly threw ${textOf(error)}. The limiter keeps working. Fix the callback.`,
  )
}

/** Sends one of the two commands of a store. Text in the reply comes as bytes, but of `overUpstash` and `overBun` as text. */
type Send = (
  command: 'EVALSHA' | 'EVAL',
  script: string,
  keys: string[],
  args: string[],
) => Promise<unknown>

/** The two commands over a client. Used like this, a client never resends, not even after `NOSCRIPT`. */
export function senderOf(client: RedisClient): Send {
  if (isUpstash(client)) return overUpstash(client)
  if (isBun(client)) return overBun(client)
  if ('customCommand' in client) return overValkeyGlide(client)
  return 'evalsha' in client ? overIoRedis(client) : overNodeRedis(client)
}

function overIoRedis(client: IoRedisClient): Send {
  const bytes = client as IoRedisClient & IoRedisBytes
  return (command, script, keys, args) =>
    command === 'EVALSHA'
      ? bytes.evalshaBuffer(script, keys.length, ...keys, ...args)
      : bytes.evalBuffer(script, keys.length, ...keys, ...args)
}

/** node-redis' `RESP_TYPES.BLOB_STRING`: the type of a reply that is text. */
const TEXT = 36

function overNodeRedis(client: NodeRedisClient): Send {
  // Where such a client runs there is Buffer, even if a bundle for the web asks for it.
  const bytes = client.withTypeMapping({ [TEXT]: globalThis.Buffer })
  return async (command, script, keys, args) => {
    // A call to a cluster or a pool that is not open fails obscurely, or waits.
    if (!client.isOpen) {
      const expected = 'a node-redis client that is connected'
      throw setupError(
        REDIS_ACTIONS,
        'SLUICE_REDIS_NOT_CONNECTED',
        expected,
        'a client whose isOpen is false',
      )
    }
    const input = { keys, arguments: args }
    return command === 'EVALSHA' ? bytes.evalSha(script, input) : bytes.eval(script, input)
  }
}

/** valkey-glide's `Decoder.Bytes`. */
const BYTES = 0

/** Sends plain commands: `invokeScript` takes only scripts of its package, and loads them by itself. */
function overValkeyGlide(client: ValkeyGlideClient): Send {
  return async (command, script, keys, args) => {
    try {
      const all = [command, script, `${keys.length}`, ...keys, ...args]
      return await client.customCommand(all, { decoder: BYTES })
    } catch (error) {
      throw inServersWords(error)
    }
  }
}

function overUpstash(client: UpstashClient): Send {
  return async (command, script, keys, args) => {
    try {
      const isDigest = command === 'EVALSHA'
      return await (isDigest ? client.evalsha(script, keys, args) : client.eval(script, keys, args))
    } catch (error) {
      throw withoutCommand(error)
    }
  }
}

function overBun(client: BunRedisClient): Send {
  return async (command, script, keys, args) =>
    client.send(command, [script, `${keys.length}`, ...keys, ...args])
}
