// Prints what a limited function of a Request answers to the first three requests.

import { limitFetch } from '@sluice/hono'

const options = { limit: 2, window: '1d', key: () => 'x'.repeat(300) }
const limited = limitFetch(options, () => new Response('hello'))
const statuses = []
for (let i = 0; i < 3; i++) statuses.push((await limited(new Request('http://a/'))).status)
limited.limiter.close()

console.log(JSON.stringify({ statuses }))
