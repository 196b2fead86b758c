import { rateLimit } from '@sluice/express'
import express from 'express'
import { Redis } from 'ioredis'
import { demonstrate } from './demonstrate.ts'

const { HOST = 'localhost', PORT = '3000', REDIS_URL } = process.env

const app = express()
const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
redis?.on('error', console.error)

app.use(
  rateLimit({
    store: redis,
    limit: 5,
    window: '10s',
  }),
)

app.get('/', (request, response) => {
  response.json({ hello: 'world', remaining: request.rateLimit?.remaining })
})

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  demonstrate(`http://${HOST}:${port}`, REDIS_URL === undefined ? 'this process' : 'Redis')
})
