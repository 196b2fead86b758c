// Prints what a Hono application answers to the first three requests.

import { rateLimit } from '@sluice/hono'
import { Hono } from 'hono'

const app = new Hono()
app.use(rateLimit({ limit: 2, window: '1d', key: () => 'client' }))
app.get('/', (c) => c.text('hello'))
const statuses = []
for (let i = 0; i < 3; i++) statuses.push((await app.request('/')).status)

console.log(JSON.stringify({ statuses }))
process.exit()
