// node scripts/setup.mjs: installs everything that the tests need, as far as this machine lets it.

import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { findChromium } from './programs/chromium.mjs'
import { findFaketime } from './programs/faketime.mjs'
import { findMysql } from './programs/mysql.mjs'
import { findPostgres } from './programs/postgres.mjs'
import { findPrometheus } from './programs/prometheus.mjs'
import { findRedis } from './programs/redis.mjs'
import { findRuntimes } from './programs/runtimes.mjs'

/**
 * Ends the process if a test can't do without what is missing.
 *
 * @param all whether also for `npm test -- --all`
 * @returns where the tests find it: variables of the environment
 */
export async function setUpTests(all) {
  const redis = await findRedis()
  await findFaketime()
  await findPostgres()
  await findMysql()
  if (all) await findPrometheus()
  const ofAll = all && { CHROMIUM: await findChromium(), ...findRuntimes() }
  await ensureInstalled()
  return { REDIS_SERVER: redis, ...ofAll }
}

if (argv[1] === fileURLToPath(import.meta.url)) await setUpTests(true)
