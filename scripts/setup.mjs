// npm run setup: installs everything that the tests need, as far as this machine lets it.

import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { findChromium } from './chromium.mjs'
import { findFaketime } from './faketime.mjs'
import { ensureInstalled } from './install.mjs'
import { findPostgres } from './postgres.mjs'
import { findPrometheus } from './prometheus.mjs'
import { findRedis } from './redis.mjs'

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
