import type { RedisServer } from './server.ts'
import { until } from './until.ts'

/** Waits until a replica has all that its master had, and follows it. */
export async function untilLinked(replica: RedisServer): Promise<void> {
  const linked = async () => (await replica.info('replication')).master_link_status === 'up'
  const what = `the replica on port ${replica.port} is linked to its master`
  await until(linked, { everyMs: 20, what })
}
