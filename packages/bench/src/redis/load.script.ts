import { Redis } from 'ioredis'
import { type Decide, redisContenders } from '../contenders/redis.ts'
import { makeKeys, mix } from '../memory/keys.ts'
import { defineTask } from '../processes/task.ts'
import { parseUsage } from './usage.ts'

export interface LoadTask {
  readonly contender: string
  readonly url: string
  readonly keys: number
  /** Decisions to measure; as many come before, until the engine has compiled all of it. */
  readonly decisions: number
  /** Decisions under way at any time. */
  readonly concurrent: number
}

/** For one decision. */
export interface Load {
  readonly redisMicros: number
  readonly nodeMicros: number
  readonly calls: number
  readonly bytes: number
  readonly perSecond: number
}

async function decideAll(decide: Decide, keys: readonly string[], count: number, at: number) {
  let next = 0
  const loop = async () => {
    while (next < count) {
      const key = keys[next % keys.length] as string
      next += 1
      await decide(key)
    }
  }
  await Promise.all(Array.from({ length: at }, loop))
}

defineTask(async (task: LoadTask): Promise<Load> => {
  const { contender, url, decisions, concurrent } = task
  const client = new Redis(url)
  const observer = new Redis(url)
  const usage = async () => parseUsage(await observer.info('everything'))
  const decide = redisContenders[contender]?.(client)
  if (decide === undefined) throw new Error(`no contender ${contender}`)
  const keys = mix(makeKeys(task.keys))
  await decideAll(decide, keys, keys.length, 50)
  await decideAll(decide, keys, decisions, concurrent)

  const before = await usage()
  const cpu = process.cpuUsage()
  const begun = performance.now()
  await decideAll(decide, keys, decisions, concurrent)
  const seconds = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const after = await usage()

  client.disconnect()
  observer.disconnect()
  return {
    redisMicros: (after.cpuMicros - before.cpuMicros) / decisions,
    nodeMicros: (user + system) / decisions,
    calls: (after.calls - before.calls) / decisions,
    bytes: (after.bytes - before.bytes) / decisions,
    perSecond: decisions / seconds,
  }
})
