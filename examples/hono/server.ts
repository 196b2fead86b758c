// An API with Hono on Node: a limit per address, a stricter one for logins, and a stream of
// server-sent events, of which an address may have two open at once.
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { memoryStore, rateLimit } from '@sluice/hono'
import { type Context, Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { Redis } from 'ioredis'

const { HOST = 'localhost', PORT = '3000', REDIS_URL } = process.env

const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
redis?.on('error', console.error)
const store = redis ?? memoryStore()
const address = (c: Context) => getConnInfo(c).remote.address

const app = new Hono()

app.use(
  rateLimit({
    store,
    address,
    limit: 20,
    window: '1m',
    routes: { 'POST /login': { limit: 3, window: '15m' }, '/health': false },
  }),
)
app.get('/', (c) => c.json({ remaining: c.var.rateLimit?.remaining }))
app.get('/health', (c) => c.text('ok'))
app.post('/login', (c) => c.json({ welcome: true }))
app.get(
  '/events',
  // If a client disconnects, its stream counts until `hold` is over: the handler may still be running.
  rateLimit({ store, address, prefix: 'events', concurrent: 2, hold: '5s', retryAfterJitter: 0 }),
  (c) =>
    streamSSE(c, async (stream) => {
      for (let id = 0; !stream.aborted; id += 1) {
        await stream.writeSSE({ id: `${id}`, data: new Date().toISOString() })
        await stream.sleep(1000)
      }
    }),
)

serve({ fetch: app.fetch, port: Number(PORT), hostname: HOST }, ({ port }) => {
  console.log(`http://${HOST}:${port} limits requests, logins and open streams`)
  console.log(`Try it:  curl -i http://${HOST}:${port}/`)
})
