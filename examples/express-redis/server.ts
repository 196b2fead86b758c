// An API with plans: a limit per minute for each plan, a report that costs as much as five requests,
// and a burst limit. All processes on the same Redis share the counts.
import { rateLimit } from '@sluice/express'
import express, { type Request } from 'express'
import { Redis } from 'ioredis'
import { authenticate } from './authenticate.ts'

const { HOST = 'localhost', PORT = '3000', REDIS_URL = 'redis://localhost:6379' } = process.env

const perMinute = { anonymous: 5, free: 10, pro: 100 }
const redis = new Redis(REDIS_URL)
redis.on('error', console.error)
const app = express()

app.use(authenticate)
app.use(
  rateLimit({
    store: redis,
    key: 'user',
    policies: [
      { name: 'burst', limit: 20, window: '1s', algorithm: 'token-bucket' },
      { name: 'plan', limit: (request) => perMinute[planOf(request)], window: '1m' },
    ],
    routes: { '/report': { cost: 5 } },
  }),
)

app.get('/', (request, response) => {
  response.json({ plan: planOf(request), remaining: request.rateLimit?.remaining })
})
app.get('/report', (request, response) => {
  response.json({ report: 'expensive', remaining: request.rateLimit?.remaining })
})

function planOf(request: Request): keyof typeof perMinute {
  return request.user?.plan ?? 'anonymous'
}

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  console.log(`http://${HOST}:${port} limits by plan, counted in ${REDIS_URL}`)
  console.log(`Try it:  curl -i -H 'x-api-key: pro-1' http://${HOST}:${port}/report`)
})
