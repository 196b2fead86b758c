// Prints what a limiter and an Express application answer to the first three requests.

import { once } from 'node:events'
import { createLimiter, memoryStore } from '@sluice/core'
import { rateLimit } from '@sluice/express'
import express from 'express'

const limiter = createLimiter({ limit: 2, window: '1m', store: memoryStore() })
const allowed = []
for (let i = 0; i < 3; i++) allowed.push((await limiter.consume('a')).allowed)

const app = express()
app.use(rateLimit({ limit: 2, window: '1m' }))
app.get('/', (_request, response) => response.send('hello'))
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const statuses = []
for (let i = 0; i < 3; i++)
  statuses.push((await fetch(`http://127.0.0.1:${server.address().port}/`)).status)

console.log(JSON.stringify({ allowed, statuses }))
process.exit()
