// A gateway in front of a language model. Each API key, its team and its organisation have a budget in dollars;
// each key also has a limit on requests, and on requests in progress. A call reserves the most that it may cost,
// and is charged what the model really used.
import { rateLimit } from '@sluice/express'
import { limitOutgoing } from '@sluice/outgoing'
import express from 'express'
import { Redis } from 'ioredis'
import { openBudget } from './budget.ts'
import { authenticate, callerOf } from './callers.ts'
import { startModel } from './model.ts'
import { relay } from './relay.ts'

const { HOST = 'localhost', PORT = '3000', REDIS_URL, MODEL_URL } = process.env

const tiers = {
  free: { inProgress: 2, requests: 60 },
  pro: { inProgress: 20, requests: 600 },
}
const model = MODEL_URL === undefined ? await startModel() : { url: MODEL_URL }
const app = express()
const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
redis?.on('error', console.error)

const budget = openBudget(redis)

const limit = rateLimit({
  store: redis,
  key: (request) => callerOf(request).key,
  policies: [
    { name: 'in-progress', concurrent: (request) => tiers[callerOf(request).tier].inProgress },
    {
      name: 'requests',
      limit: (request) => tiers[callerOf(request).tier].requests,
      window: '1m',
      algorithm: 'token-bucket',
    },
  ],
})

/** The model has limits too. All gateways keep to them together, and obey the model's rate-limit fields. */
const paced = limitOutgoing(fetch, {
  store: redis,
  prefix: 'model',
  concurrent: 100,
  maxWait: '10s',
})

app.use(authenticate)
app.get('/limits', limit.usage())
app.get('/usage', async (request, response) => {
  const { key, team, organisation } = callerOf(request)
  const { levels } = await budget.usage({ key, team, organisation })
  response.set('Cache-Control', 'no-store').json({ unit: 'usd', levels })
})
app.post('/v1/messages', express.json(), limit, relay(model.url, paced, budget))

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  const url = `http://${HOST}:${port}`
  console.log(`${url} keeps budgets by API key, team and organisation, counted in ${REDIS_URL ?? 'this process'}.
The model behind it is ${model.url}; of the stand-in, ${model.url}/bill is what it bills.

  curl -iN ${url}/v1/messages -H 'x-api-key: free-key' -H 'content-type: application/json' \\
    -d '{"max_tokens":99,"messages":[{"role":"user","content":"one two three"}]}'

Stop with Ctrl-C.`)
})
