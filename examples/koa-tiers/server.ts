// An API whose requests cost tokens, with a limit per minute for each plan. It limits the signed-in
// user, otherwise the address. A request is first charged the most that it may use; after its
// response, the unused tokens are given back.
import { rateLimit } from '@sluice/koa'
import { Redis } from 'ioredis'
import Koa, { type Context } from 'koa'
import { authenticate, type Plan } from './authenticate.ts'
import { complete } from './model.ts'

const { HOST = 'localhost', PORT = '3000', REDIS_URL } = process.env

const tokensPerMinute: Record<Plan, number> = { anonymous: 100, free: 1000, pro: 10_000 }
const app = new Koa()
const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
redis?.on('error', console.error)

app.use(authenticate)
app.use(
  rateLimit({
    store: redis,
    key: 'user',
    policies: [
      { name: 'requests', limit: 20, window: '1m', algorithm: 'token-bucket' },
      {
        name: 'tokens',
        limit: (ctx) => tokensPerMinute[ctx.state.plan as Plan],
        window: '1m',
        cost: mostTokens,
        settle: (ctx) => ctx.state.tokensUsed ?? undefined,
      },
    ],
  }),
)
app.use(async (ctx) => {
  const { text, tokens } = await complete(String(ctx.query.prompt ?? ''), mostTokens(ctx))
  ctx.state.tokensUsed = tokens
  ctx.body = { plan: ctx.state.plan, text, tokens }
})

/** The tokens that the client asks for: 1 to 500, 50 if it doesn't say. */
function mostTokens({ query }: Context): number {
  return Math.min(Math.max(Math.trunc(Number(query.max)) || 50, 1), 500)
}

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  console.log(`http://${HOST}:${port} limits tokens by plan`)
  console.log(
    `Try it:  curl -i -H 'x-api-key: free-1' 'http://${HOST}:${port}/?prompt=hello&max=80'`,
  )
})
