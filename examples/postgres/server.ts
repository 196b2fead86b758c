import { rateLimit } from '@sluice/express'
import express from 'express'
import { pool, store } from './store.ts'

const { HOST = 'localhost', PORT = '3000' } = process.env

const app = express()

app.use(
  rateLimit({
    store,
    // The application needs the same database, so deciding sooner without it would not help.
    deadline: '1s',
    limit: 100,
    window: '1h',
    routes: {
      'POST /login': { limit: 5, window: '1d' },
      '/health': false,
    },
  }),
)

app.get('/', (request, response) => {
  const { remaining, source } = request.rateLimit ?? {}
  response.json({ remaining, source })
})
app.post('/login', (_, response) => {
  response.json({ welcome: true })
})
app.get('/health', (_, response) => {
  response.send('ok')
})

// Connects now, so that the first request does not have to.
await pool.query('SELECT 1')

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  console.log(`http://${HOST}:${port}, with PostgreSQL`)
})

process.once('SIGTERM', () => {
  server.close(async () => {
    store.close()
    await pool.end()
  })
})
