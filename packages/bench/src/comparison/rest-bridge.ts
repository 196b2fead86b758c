import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Redis as UpstashRedis } from '@upstash/redis'
import type { Redis } from 'ioredis'

/** A flag of scripts that only Upstash's server knows: Redis refuses a script that has it. */
const UPSTASH_FLAG = /^#!lua flags=allow-key-locking\n/

type Command = readonly [name: string, ...args: unknown[]]

/**
 * Serves a Redis over HTTP as Upstash does. The server does not keep the process, and is never closed: a call
 * that waits for Redis may outlive the site that made it.
 *
 * @returns Upstash's client of it
 */
export async function overRest(redis: Redis): Promise<UpstashRedis> {
  const run = async ([name, ...args]: Command) => {
    try {
      const plain = args.map((arg) => String(arg).replace(UPSTASH_FLAG, ''))
      return { result: await redis.call(name, plain) }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Command | Command[]
    const answer =
      request.url === '/pipeline'
        ? await Promise.all((body as Command[]).map(run))
        : await run(body as Command)
    response.writeHead('error' in answer ? 400 : 200, {
      'Content-Type': 'application/json',
      Connection: 'close',
    })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return new UpstashRedis({ url, token: 'any', responseEncoding: false })
}
