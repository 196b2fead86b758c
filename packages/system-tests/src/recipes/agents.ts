import { type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, Request } from 'express'
import { HTTP_MESSAGE_SIGNATURES_DIRECTORY as DIRECTORY, verify } from 'web-bot-auth'
import { verifierFromJWK } from 'web-bot-auth/crypto'

type Store = RateLimitOptions['store']

export async function agents(app: Express, store: Store): Promise<void> {
  // #region
  const agents = new Map([['https://chatgpt.com', [] as { kid?: string; kty?: string }[]]])
  async function load(agent: string) {
    const response = await fetch(agent + DIRECTORY, { signal: AbortSignal.timeout(2000) })
    agents.set(agent, ((await response.json()) as { keys: [] }).keys)
  }
  const loadAll = () => Promise.allSettled(Array.from(agents.keys(), load))
  setInterval(loadAll, 300_000).unref()
  await loadAll()
  async function agentOf({ method, originalUrl, headers }: Request) {
    const [, agent = ''] = /^(?:[\w-]+=)?"([^"]*)"$/.exec(`${headers['signature-agent']}`) ?? []
    const fields = { ...headers, 'signature-agent': `"${agent}"` } as never
    const signed = { method, url: `https://shop.example${originalUrl}`, headers: fields }
    return verify(signed, async (base, signature, parameters) => {
      const key = agents.get(agent)?.find(({ kid }) => kid === parameters.keyid)
      await (await verifierFromJWK(key ?? {}))(base, signature, parameters)
      return /^"@authority": shop\.example$/m.test(base) ? agent : undefined
    }).catch(() => undefined)
  }
  const limit = (_: Request, key: string) => (agents.has(key.slice('user:'.length)) ? 600 : 60)
  app.use(rateLimit({ store, key: 'user', user: agentOf, limit, window: '1m' }))
  // #endregion
}
