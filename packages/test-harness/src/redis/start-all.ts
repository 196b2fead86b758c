import type { RedisServer } from './server.ts'

/** All of the servers that are being started, or none: when one fails, the others are stopped. */
export async function startAll(starts: readonly Promise<RedisServer>[]): Promise<RedisServer[]> {
  const settled = await Promise.allSettled(starts)
  const servers = settled.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const failure = settled.find((start) => start.status === 'rejected')
  if (!failure) return servers
  await stopAll(servers)
  throw failure.reason
}

export async function stopAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()))
}
