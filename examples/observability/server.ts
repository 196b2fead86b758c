// An API whose limiters are monitored: Prometheus scrapes /metrics, see prometheus.yml.
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { rateLimit } from '@sluice/express'
import { instrument } from '@sluice/otel'
import express from 'express'
import { Redis } from 'ioredis'

const { HOST = 'localhost', PORT = '3000', REDIS_URL = 'redis://localhost:6379' } = process.env

const exporter = new PrometheusExporter({ preventServerStart: true })
instrument({ meterProvider: new MeterProvider({ readers: [exporter] }), nearLimit: 0.8 })

const store = new Redis(REDIS_URL)
store.on('error', console.error)
const app = express()

// Before the limiters. In production, serve it where only Prometheus can reach it.
app.get('/metrics', (request, response) => exporter.getMetricsRequestHandler(request, response))

// The first limit can change while this runs. The second is a dry run, which refuses nothing.
app.use(
  rateLimit({
    store,
    name: 'api',
    policies: [
      { name: 'default', limit: 1000, window: '1m', live: true },
      { name: 'new', limit: 5, window: '1s', dryRun: true },
    ],
  }),
)

app.get('/', (_, response) => {
  response.json({ hello: 'world' })
})

// Each client may have two searches in progress, and ten per second; further ones wait for their turn.
app.get(
  '/search',
  rateLimit({
    store,
    name: 'search',
    policies: [
      { name: 'in-progress', concurrent: 2 },
      { name: 'queue', limit: 10, window: '1s', algorithm: 'leaky-bucket' },
    ],
  }),
  (_, response) => {
    response.json({ found: [] })
  },
)

// A completion costs the tokens that it really used.
app.get(
  '/complete',
  rateLimit({
    store,
    name: 'complete',
    policies: [
      { name: 'tokens', limit: 10_000, window: '1m', unit: 'tokens', cost: 100, settle: () => 20 },
    ],
  }),
  (_, response) => {
    response.json({ text: 'done', tokens: 20 })
  },
)

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  console.log(`http://${HOST}:${port} is limited, and measured at /metrics`)
})
