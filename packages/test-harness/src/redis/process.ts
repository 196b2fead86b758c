import { setTimeout as delay } from 'node:timers/promises'
import { type OwnProcess, startOwn } from '../processes/own-process.ts'
import { redisBinary } from './binary.ts'
import type { ShiftedClock } from './clock.ts'
import { connected } from './control.ts'
import { parseInfo } from './info.ts'
import { until } from './until.ts'

const GRACE_MS = 2_000

/** The server could not listen, because another process does. */
export class PortTakenError extends Error {}

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
): Promise<OwnProcess> {
  const redis = startOwn(redisBinary(), args, {
    folder,
    ...(clock && { env: clock.env, leftovers: clock.leftovers }),
  })
  try {
    await untilAnswers(redis, port)
    return redis
  } catch (error) {
    await redis.kill()
    throw error
  }
}

/**
 * Waits until this very process answers a PING on the port: on a port that was taken in between,
 * somebody else's Redis may answer instead.
 */
async function untilAnswers(redis: OwnProcess, port: number): Promise<void> {
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
export async function terminate(redis: OwnProcess): Promise<void> {
  redis.signal('SIGTERM')
  redis.signal('SIGCONT')
  const graceEnd = new AbortController()
  const grace = delay(GRACE_MS, true, { signal: graceEnd.signal }).catch(() => false)
  const late = await Promise.race([redis.end().then(() => false), grace])
  graceEnd.abort()
  if (late) await redis.kill()
}
