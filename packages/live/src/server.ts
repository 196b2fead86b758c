// npm start: the live page, and a short demonstration in the terminal.
import type { AddressInfo } from 'node:net'
import { memoryStore } from '@sluice/express'
import { Redis } from 'ioredis'
import { createApp } from './app.ts'
import { buildAssets } from './assets.ts'
import { demonstrate } from './demonstrate.ts'

const { PORT = '3000', REDIS_URL } = process.env

// Each visitor makes new clients as they please, so their number is bounded.
const store = REDIS_URL === undefined ? memoryStore({ maxKeys: 10_000 }) : new Redis(REDIS_URL)
const app = createApp(store, buildAssets())

const server = app.listen(Number(PORT), (error) => {
  if (error !== undefined) return fail(error)
  const { port } = server.address() as AddressInfo
  void demonstrate(`http://localhost:${port}`, REDIS_URL === undefined ? 'this process' : 'Redis')
})

function fail(error: NodeJS.ErrnoException): void {
  const taken = error.code === 'EADDRINUSE'
  const reason = taken
    ? `Port ${PORT} is taken.`
    : `Can't listen on port ${PORT}: ${error.message}.`
  console.error(`${reason} Choose another one:  PORT=${Number(PORT) + 1} npm start`)
  process.exit(1)
}
