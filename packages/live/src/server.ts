// npm start: the live page, and a short demonstration in the terminal.
import type { AddressInfo } from 'node:net'
import { memoryStore } from '@sluice/express'
import { Redis } from 'ioredis'
import { createApp } from './app.ts'
import { buildAssets } from './assets.ts'
import { demonstrate } from './demonstrate.ts'

const { HOST = 'localhost', PORT = '3000', REDIS_URL } = process.env

// Each visitor makes new clients as they please, so their number is bounded.
const store = REDIS_URL === undefined ? memoryStore({ maxKeys: 10_000 }) : connect(REDIS_URL)
const app = createApp(store, buildAssets())

if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) {
  fail(`PORT must be a number from 0 to 65535, not ${JSON.stringify(PORT)}.`, 3000)
}
const server = app.listen(Number(PORT), HOST, (error) => {
  if (error !== undefined) fail(reasonOf(error), Number(PORT) + 1)
  const { port } = server.address() as AddressInfo
  void demonstrate(`http://${HOST}:${port}`, REDIS_URL === undefined ? 'this process' : 'Redis')
})

/** Says once what is wrong. The limiters go on without it, and say so themselves. */
function connect(url: string): Redis {
  const redis = new Redis(url)
  redis.once('error', ({ message }) => console.error(`Redis: ${message}`))
  return redis.on('error', () => {})
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === 'EADDRINUSE'
    ? `Port ${PORT} is taken.`
    : `Can't listen on ${HOST}, port ${PORT}: ${message}.`
}

function fail(reason: string, other: number): never {
  console.error(`${reason} Choose another one:  PORT=${other} npm start`)
  process.exit(1)
}
