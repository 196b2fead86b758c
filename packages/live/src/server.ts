// npm start: the live page, and a short demonstration in the terminal.
import { createServer } from 'node:http'
import { memoryStore } from '@sluice/express'
import { listen } from '@sluice/ui/listen'
import { Redis } from 'ioredis'
import { createApp } from './app.ts'
import { buildAssets } from './assets.ts'
import { demonstrate } from './demonstrate.ts'

const { REDIS_URL } = process.env

// Each visitor makes new clients as they please, so their number is bounded.
const store = REDIS_URL === undefined ? memoryStore({ maxKeys: 10_000 }) : connect(REDIS_URL)
const app = createApp(store, buildAssets())
const url = await listen(createServer(app), 'npm start', 3000)
await demonstrate(url, REDIS_URL === undefined ? 'this process' : 'Redis')

/** Says once what is wrong. The limiters go on without it, and say so themselves. */
function connect(url: string): Redis {
  const redis = new Redis(url)
  redis.once('error', ({ message }) => console.error(`Redis: ${message}`))
  return redis.on('error', () => {})
}
