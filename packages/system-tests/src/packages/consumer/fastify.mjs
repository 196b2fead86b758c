// Prints what a Fastify application answers to the first three requests.

import { rateLimit } from '@sluice/fastify'
import fastify from 'fastify'

const app = fastify()
await app.register(rateLimit, { limit: 2, window: '1d' })
app.get('/', async () => 'hello')
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const statuses = []
for (let i = 0; i < 3; i++) statuses.push((await fetch(url)).status)

console.log(JSON.stringify({ statuses }))
process.exit()
