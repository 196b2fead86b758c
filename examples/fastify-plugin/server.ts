// One limit for the whole application, and routes with different options.
import { rateLimit } from '@sluice/fastify'
import fastify from 'fastify'

const { HOST = 'localhost', PORT = '3000' } = process.env

const app = fastify()

await app.register(rateLimit, { limit: 10, window: '10s' })

app.get('/', async (request) => ({ hello: 'world', remaining: request.rateLimit?.remaining }))

// Its own limit and window: this route is counted separately.
app.post('/login', { config: { rateLimit: { limit: 3, window: '1m' } } }, async () => ({
  token: 'secret',
}))

// Only its own cost: it shares the quota of the other routes, and uses five times as much.
app.get('/search', { config: { rateLimit: { cost: 5 } } }, async () => ({ found: [] }))

// Several limits, all of which must admit a request.
const policies = [
  { name: 'burst', limit: 2, window: '1s' },
  { name: 'daily', limit: 100, window: '1d' },
] as const
app.get('/export', { config: { rateLimit: { policies } } }, async () => ({ rows: [] }))

// Never limited, never counted.
app.get('/health', { config: { rateLimit: false } }, async () => ({ up: true }))

await app.listen({ port: Number(PORT), host: HOST })
const { port } = app.server.address() as { port: number }
const url = `http://${HOST}:${port}`

console.log(`Sluice limits ${url} to 10 requests per 10 s. Try more than a few times:

  curl -i ${url}                  10 per 10 s
  curl -i -X POST ${url}/login    3 per minute
  curl -i ${url}/search           takes 5 of the 10
  curl -i ${url}/export           2 per second, and 100 a day
  curl -i ${url}/health           no limit
  curl -i ${url}/nowhere          unknown routes are limited too

Stop with Ctrl-C.`)
