// npm start -- site: the site, as it is published, on loopback.
import { createServer } from 'node:http'
import { listen } from '@sluice/ui/listen'
import { buildIfStale, dist } from './build.ts'
import { handler } from './handler.ts'
import { BASE } from './repository.ts'

await buildIfStale()
const url = await listen(createServer(handler(dist, BASE)), 'npm start -- site', 4000)
console.log(`The documentation is at ${url}${BASE}\nStop with Ctrl-C.`)
