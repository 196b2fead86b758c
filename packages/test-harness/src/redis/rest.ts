import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Redis } from 'ioredis'
import { LOOPBACK } from './ports.ts'

/** A flag of scripts that only Upstash's server knows: Redis refuses a script that has it. */
const UPSTASH_FLAG = /^#!lua flags=allow-key-locking\n/

type Command = readonly [name: string, ...args: unknown[]]
type Answer = { result: unknown } | { error: string }

/** A Redis over HTTP, as Upstash serves it. */
export interface RestBridge {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** A client sends it as `Authorization: Bearer …`. */
  readonly token: string
  /** The commands of each request that has arrived, with their names in upper case. */
  readonly requests: (readonly string[])[]
  /** Answers in the place of Redis, which then executes nothing. It may leave the response open. */
  instead: ((response: ServerResponse) => void) | undefined
  /** Called once Redis has executed the commands, which are in JSON: true if the answer is to be lost. */
  loses: ((commands: string) => boolean) | undefined
  close(): Promise<void>
}

/**
 * Serves a Redis over HTTP in Upstash's form: a command as a JSON array at `/`, several at `/pipeline`, a
 * transaction at `/multi-exec`. Text in a reply is base64 of its bytes if the client asks for it; otherwise bytes that are
 * not UTF-8 are lost, as in any JSON.
 */
export async function startRest(redisUrl: string): Promise<RestBridge> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 0, disconnectTimeout: 0 })
  redis.on('error', () => {})
  const token = 'token-of-this-tenant'
  const bridge = { token, requests: [], instead: undefined, loses: undefined } as Omit<
    RestBridge,
    'url' | 'close'
  >

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await json(request)) as Command | Command[]
    const isOne = request.url === '/'
    const commands = (isOne ? [body] : body) as Command[]
    bridge.requests.push(commands.map(([name]) => name.toUpperCase()))
    if (bridge.instead !== undefined) return bridge.instead(response)
    response.setHeader('Content-Type', 'application/json')
    if (request.headers.authorization !== `Bearer ${token}`) {
      const error = 'WRONGPASS invalid or missing auth token'
      return void response.writeHead(401).end(JSON.stringify({ error }))
    }
    const encoded = request.headers['upstash-encoding'] === 'base64'
    const answers = await answersTo(redis, commands, request.url === '/multi-exec')
    const told = answers.map((answer) =>
      'error' in answer ? answer : { result: inJson(answer.result, encoded) },
    )
    const answer = JSON.stringify(isOne ? told[0] : told)
    if (bridge.loses?.(JSON.stringify(commands))) return void response.destroy()
    const [first] = told
    response.writeHead(isOne && first !== undefined && 'error' in first ? 400 : 200).end(answer)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve))
  const close = async () => {
    redis.disconnect()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const url = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`
  return Object.assign(bridge, { url, close })
}

async function answersTo(redis: Redis, commands: Command[], atOnce: boolean): Promise<Answer[]> {
  if (!atOnce) return Promise.all(commands.map((command) => answerTo(redis, command)))
  const transaction = redis.multi()
  for (const [name, ...args] of commands) transaction.callBuffer(name, ...args.map(String))
  const replies = (await transaction.exec()) ?? []
  return replies.map(([error, result]) => (error ? { error: error.message } : { result }))
}

async function answerTo(redis: Redis, [name, ...args]: Command): Promise<Answer> {
  try {
    const texts = args.map((arg) => String(arg).replace(UPSTASH_FLAG, ''))
    return { result: await redis.callBuffer(name, texts) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

/** A reply of Redis as a value of JSON. The status `OK` is never encoded. */
function inJson(reply: unknown, encoded: boolean): unknown {
  if (Array.isArray(reply)) return reply.map((each) => inJson(each, encoded))
  if (!Buffer.isBuffer(reply)) return reply instanceof Error ? reply.message : reply
  const text = reply.toString()
  return encoded && text !== 'OK' ? reply.toString('base64') : text
}
