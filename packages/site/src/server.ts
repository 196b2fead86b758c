// npm start -- site: the site, as it is published, on loopback.
import { createServer } from 'node:http'
import { listen } from '@sluice/ui/listen'
import { buildIfStale, dist } from './build.ts'
import { handler } from './handler.ts'
import { BASE } from './repository.ts'

const server = createServer()
// A port that is taken is known before the build, which takes a minute.
const url = await listen(server, 'npm start -- site', 4000)
await buildIfStale()
server.on('request', handler(dist, BASE))
console.log(`The documentation is at ${url}${BASE}\nStop with Ctrl-C.`)
