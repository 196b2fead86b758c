import { type StartOptions, startRedis } from '../../redis/server.ts'
import { defineWorker } from '../worker.ts'

defineWorker(async (options: StartOptions) => {
  const servers = await Promise.all([startRedis(options), startRedis(options)])
  return async () => {
    const replies = await Promise.all(servers.map((redis) => redis.command('CONFIG', 'GET', 'dir')))
    servers[1].pause()
    return servers.map(({ port, pid }, index) => ({
      port,
      pid,
      folder: (replies[index] as string[])[1],
    }))
  }
})
