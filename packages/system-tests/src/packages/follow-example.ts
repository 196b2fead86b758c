// An example on empty stores, as its README describes it.

import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { PostgresServer } from '@sluice/test-harness/postgres'
import { freePorts, type RedisServer } from '@sluice/test-harness/redis'
import { Client } from 'pg'
import { followReadme, type Surroundings } from './follow-readme.ts'

export interface Stores {
  readonly redis: RedisServer
  readonly postgres: PostgresServer | undefined
}

/**
 * Empties the stores and follows the README, on a free port.
 *
 * @param example its folder in the repository
 * @param folder where it goes, beside what it needs
 */
export async function followExample(
  example: string,
  folder: string,
  { redis, postgres }: Stores,
  { env, manager }: Pick<Surroundings, 'env' | 'manager'>,
): Promise<void> {
  const needsRedis = readFileSync(join(example, 'README.md'), 'utf8').includes('-p 6379:6379')
  const urls = {
    // The others count in memory.
    ...(needsRedis && { REDIS_URL: redis.url }),
    ...(postgres && { DATABASE_URL: postgres.url }),
  }
  const clear = async () => {
    await redis.command('FLUSHALL')
    if (basename(example) !== 'postgres') return
    const client = new Client({ connectionString: postgres?.url })
    await client.connect()
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    await client.end()
  }
  const [port] = (await freePorts(1)) as [number]
  await followReadme(example, folder, { port, env: { ...env, ...urls }, manager, clear })
}
