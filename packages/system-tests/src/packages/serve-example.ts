import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const freePort = pathToFileURL(join(import.meta.dirname, 'consumer/free-port.mjs')).href

/** How long an example may take to listen. ms */
const STARTS_WITHIN = 30_000

/**
 * Starts an example and requests what it serves: as often as it admits, and until it refuses.
 *
 * @param node path of the binary
 * @param limit the limit of the example
 * @param env its environment: stores in it have no keys
 * @returns the statuses in their order, each once while it stays the same: `[200, 429]`
 */
export async function statusesOf(
  node: string,
  file: string,
  limit: number,
  env: NodeJS.ProcessEnv,
): Promise<number[]> {
  const args = ['--import', freePort, file]
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const agent = new Agent({ keepAlive: true, maxSockets: 10 })
  try {
    const port = await portOf(child)
    const status = () => statusOf(port, agent)
    const statuses = await Promise.all(Array.from({ length: limit }, status))
    // More than one is admitted only where a window ends in between.
    while (!statuses.includes(429) && statuses.length <= 2 * limit) statuses.push(await status())
    return statuses.filter((each, i) => each !== statuses[i - 1])
  } finally {
    agent.destroy()
    child.kill('SIGKILL')
  }
}

async function statusOf(port: number, agent: Agent): Promise<number> {
  const request = get({ host: '127.0.0.1', port, agent })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  await once(response.resume(), 'end')
  return response.statusCode as number
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk
      const [, port] = /^listens on (\d+)$/m.exec(output) ?? []
      if (port === undefined) return
      clearTimeout(timer)
      resolve(Number(port))
    }
    const fail = () => reject(new Error(`does not listen:\n${output}`))
    const timer = setTimeout(fail, STARTS_WITHIN)
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', () => {
      clearTimeout(timer)
      fail()
    })
  })
}
