// node scripts/setup.mjs: installs everything that the tests need, as far as this machine lets it.

import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { findChromium } from './programs/chromium.mjs'
import { findFaketime } from './programs/faketime.mjs'
import { findPostgres } from './programs/postgres.mjs'
import { findPrometheus } from './programs/prometheus.mjs'
import { findRedis } from './programs/redis.mjs'

/** @returns the path of the Redis server. Ends the process if a test can't do without what is missing */
export async function setUpTests() {
  const redis = await findRedis()
  await findFaketime()
  await findPostgres()
  await findPrometheus()
  await ensureInstalled()
  return redis
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await findChromium()
  await setUpTests()
}
