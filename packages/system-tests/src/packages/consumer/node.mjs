// Prints what a server of Node answers to the first three requests.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { rateLimit } from '@sluice/node'

const limit = rateLimit({ limit: 2, window: '1d' })
const server = createServer((request, response) => {
  limit(request, response, () => response.end('hello'))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const statuses = []
for (let i = 0; i < 3; i++)
  statuses.push((await fetch(`http://127.0.0.1:${server.address().port}/`)).status)

console.log(JSON.stringify({ statuses }))
process.exit()
