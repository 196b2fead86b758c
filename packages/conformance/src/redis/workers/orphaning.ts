import { startRedis } from '../server.ts'
import { defineWorker } from '../worker.ts'

defineWorker(async () => {
  const servers = await Promise.all([startRedis(), startRedis()])
  return async () => {
    const replies = await Promise.all(servers.map((redis) => redis.command('CONFIG', 'GET', 'dir')))
    servers[1].pause()
    return servers.map(({ port }, index) => ({ port, folder: (replies[index] as string[])[1] }))
  }
})
