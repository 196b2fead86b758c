// A gateway in front of a language model. Each API key has four limits, by its tier: requests in
// progress, requests, input tokens and output tokens. They are decided together. A request is charged
// an estimate, which is corrected when the model has said what it really used.
import { estimateTokens, rateLimit } from '@sluice/express'
import { limitOutgoing } from '@sluice/outgoing'
import express, { type Request } from 'express'
import { Redis } from 'ioredis'
import { authenticate, callerOf } from './callers.ts'
import { startModel } from './model.ts'
import { relay } from './relay.ts'

const { HOST = 'localhost', PORT = '3000', REDIS_URL, MODEL_URL } = process.env

const tiers = {
  free: { inProgress: 2, requests: 60, input: 20_000, output: 10_000 },
  pro: { inProgress: 20, requests: 600, input: 2_000_000, output: 1_000_000 },
}
const model = MODEL_URL === undefined ? await startModel() : { url: MODEL_URL }
const app = express()
const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
redis?.on('error', console.error)

const limit = rateLimit({
  store: redis,
  key: (request) => callerOf(request).id,
  headers: ['draft-11', 'anthropic'],
  policies: [
    { name: 'in-progress', concurrent: (request) => tiers[callerOf(request).tier].inProgress },
    {
      name: 'requests',
      limit: (request) => tiers[callerOf(request).tier].requests,
      window: '1m',
      algorithm: 'token-bucket',
    },
    {
      name: 'input',
      unit: 'input-tokens',
      limit: (request) => tiers[callerOf(request).tier].input,
      window: 'day',
      reserve: true,
      cost: ({ body }) => estimateTokens(body ?? ''),
      settle: (_, { locals }) => locals.usage?.input_tokens,
    },
    {
      name: 'output',
      unit: 'output-tokens',
      limit: (request) => tiers[callerOf(request).tier].output,
      window: 'day',
      reserve: true,
      cost: mostTokens,
      settle: (_, { locals }) => locals.usage?.output_tokens,
    },
  ],
})

/** The model has limits too. All gateways keep to them together, and to what the model answers. */
const paced = limitOutgoing(fetch, {
  store: redis,
  prefix: 'model',
  concurrent: 100,
  maxWait: '10s',
})

app.post('/v1/messages', authenticate, express.json(), limit, relay(model.url, paced))

/** What the answer may use at most. The model refuses a request that does not say it. */
function mostTokens({ body }: Request): number {
  const most: unknown = body?.max_tokens
  return Number.isSafeInteger(most) && (most as number) > 0 ? (most as number) : 0
}

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  const url = `http://${HOST}:${port}`
  console.log(`${url} limits requests and tokens by API key, counted in ${REDIS_URL ?? 'this process'}.
The model behind it is ${model.url}; of the stand-in, ${model.url}/bill is what it bills.

  curl -iN ${url}/v1/messages -H 'x-api-key: free-key' -H 'content-type: application/json' \\
    -d '{"max_tokens":100,"messages":[{"role":"user","content":"one two three"}]}'

Stop with Ctrl-C.`)
})
