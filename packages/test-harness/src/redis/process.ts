import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { redisBinary } from './binary.ts'
import type { ShiftedClock } from './clock.ts'
import { connected } from './control.ts'
import { dieWithParent } from './guard.ts'
import { parseInfo } from './info.ts'
import { until } from './until.ts'

const GRACE_MS = 2_000
const LOG_CHARACTERS = 4_000

/** One run of a Redis server. */
export interface RedisProcess {
  readonly pid: number
  /** Resolves when nothing of it is left. */
  end(): Promise<void>
  isRunning(): boolean
  /** Does nothing once the process has ended. */
  signal(name: NodeJS.Signals): void
  /** The end of what it has printed. */
  log(): string
}

/** The server could not listen, because another process does. */
export class PortTakenError extends Error {}

function spawnRedis(
  args: readonly string[],
  folder: string,
  clock: ShiftedClock | undefined,
): RedisProcess {
  const binary = redisBinary()
  const child = spawn(binary, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
    env: { ...process.env, ...clock?.env },
  })
  child.on('error', () => {})
  if (child.pid === undefined) throw new Error(`${binary} could not be run`)

  let log = ''
  const keep = (text: string) => {
    log = (log + text).slice(-LOG_CHARACTERS)
  }
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)

  const leftovers = clock?.leftovers(child.pid) ?? []
  const disarm = dieWithParent(child.pid, [folder, ...leftovers])
  // 'close' comes when the output has been read to its end, so the log is whole.
  const ended = once(child, 'close').then(async () => {
    await disarm()
    await Promise.all(leftovers.map((path) => rm(path, { force: true })))
  })
  // A server that a failed test has left must not keep the test process from ending.
  const handles = [child, child.stdout as Socket, child.stderr as Socket]
  for (const handle of handles) handle.unref()
  return {
    pid: child.pid,
    end: () => {
      for (const handle of handles) handle.ref()
      return ended
    },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => void child.kill(name),
    log: () => log,
  }
}

/**
 * Starts a server that is configured to listen on `port`, and waits until it answers there.
 *
 * @throws PortTakenError
 * @throws Error with the end of the server's log, when it ends instead.
 */
export async function launch(
  args: readonly string[],
  folder: string,
  port: number,
  clock?: ShiftedClock,
): Promise<RedisProcess> {
  const redis = spawnRedis(args, folder, clock)
  try {
    await untilReady(redis, port)
    return redis
  } catch (error) {
    await kill(redis)
    throw error
  }
}

/**
 * Waits until this very process answers a PING on the port: on a port that was taken in between,
 * somebody else's Redis may answer instead.
 */
async function untilReady(redis: RedisProcess, port: number): Promise<void> {
  const answers = () =>
    connected(port, async (send) => {
      if ((await send('PING')) !== 'PONG') return false
      return parseInfo(String(await send('INFO', 'server'))).process_id === String(redis.pid)
    }).catch(() => false)

  const condition = async () => {
    if (redis.isRunning()) return answers()
    await redis.end()
    if (/address already in use/i.test(redis.log()))
      throw new PortTakenError(`port ${port}, or its cluster bus port, is taken`)
    throw new Error(`the Redis server ended at its start:\n${redis.log()}`)
  }
  await until(condition, { what: `Redis answers on port ${port}` })
}

/** Asks the process to end and, after two seconds, kills it. It may be paused, or gone already. */
export async function terminate(redis: RedisProcess): Promise<void> {
  redis.signal('SIGTERM')
  redis.signal('SIGCONT')
  const graceEnd = new AbortController()
  const grace = delay(GRACE_MS, true, { signal: graceEnd.signal }).catch(() => false)
  const late = await Promise.race([redis.end().then(() => false), grace])
  graceEnd.abort()
  if (late) await kill(redis)
}

export async function kill(redis: RedisProcess): Promise<void> {
  redis.signal('SIGKILL')
  await redis.end()
}
