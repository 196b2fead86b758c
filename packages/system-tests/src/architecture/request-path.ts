// Prints which functions of the packages one request in Express runs, by V8's precise coverage, as JSON:
// for each file its functions.
//
//   node --import tsx request-path.ts [URL of a Redis]

import { createServer, get, type Server } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { relative } from 'node:path'
import { argv, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { rateLimit } from '@sluice/express'
import express from 'express'
import { Redis } from 'ioredis'

/** Requests before the measurement: an unsafe proxy setting is looked for in the first thousand. */
const WARM = 1100
/** Requests of the measurement: what they do not all run is left out. */
const REQUESTS = 50

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const [, , url] = argv
const redis = url === undefined ? undefined : new Redis(url)
const store = redis && { store: redis, deadline: '30s' as const }
const app = express()
app.use(rateLimit({ limit: 1_000_000, window: '1h', ...store }))
app.get('/', (_request, response) => void response.end('served'))

const server = await listening(createServer(app))
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await ask(WARM)
await session.post('Profiler.takePreciseCoverage')
await ask(REQUESTS)
const { result } = await session.post('Profiler.takePreciseCoverage')
const run = result
  .filter((script) => /^file:.*\/packages\/(core|express|http)\/src\//.test(script.url))
  .map(({ url, functions }) => ({
    file: relative(root, fileURLToPath(url)),
    functions: functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) >= REQUESTS)
      .map(({ functionName }) => functionName)
      // tsx adds this one.
      .filter((name) => name !== '__name'),
  }))
  .filter(({ functions }) => functions.length > 0)
stdout.write(JSON.stringify(run))
server.close()
redis?.disconnect()

function listening(server: Server): Promise<Server> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

/** One request at a time. */
async function ask(times: number): Promise<void> {
  const { port } = server.address() as AddressInfo
  for (let i = 0; i < times; i += 1) {
    await new Promise((resolve, reject) => {
      const request = get({ port, host: '127.0.0.1' }, (reply) => {
        reply.resume().on('end', resolve)
      })
      request.on('error', reject)
    })
  }
}
