// The same as use.mjs, by require.

const { once } = require('node:events')
const { createLimiter, memoryStore } = require('@sluice/core')
const { rateLimit } = require('@sluice/express')
const express = require('express')

async function main() {
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
}

main()
