import { decisionOf, limitFetch, memoryStore } from '@sluice/hono'
import { type Algorithm, algorithms, limits, WORK_MS } from '../../limits.ts'
import type { Send } from './send.ts'

/** Where the requests go: a host that does not exist, since none of them leaves the page. */
const HOST = 'http://limiters.invalid'

/** Each session is a client, and old ones are forgotten. */
const MAX_KEYS = 1000

/** The limiters in the page itself, instead of behind a server. Their responses are real ones. */
export function limitersInPage(): Send {
  const store = memoryStore({ maxKeys: MAX_KEYS })
  const endpoints = new Map(
    algorithms.map((algorithm) => {
      const options = { ...limits[algorithm], store, key: clientOf }
      return [`/try/${algorithm}`, limitFetch(options, (request) => work(algorithm, request))]
    }),
  )
  // A fixed window begins by the store's clock. Asking for it changes nothing.
  const { limiter } = limitFetch(
    { ...limits['fixed-window'], store, key: clientOf },
    respondNothing,
  )
  const now = async () => Response.json({ now: (await limiter.peek('clock')).at })
  return async (path, init) => {
    const answer = path === '/clock' ? now : endpoints.get(path)
    if (answer === undefined) throw new Error(`no limiter has the path ${path}`)
    return answer(new Request(`${HOST}${path}`, init))
  }
}

const clientOf = (request: Request) => request.headers.get('Demo-Client') ?? undefined
const respondNothing = () => new Response(null)

async function work(algorithm: Algorithm, request: Request): Promise<Response> {
  if (algorithm === 'concurrency') await new Promise((resolve) => setTimeout(resolve, WORK_MS))
  return Response.json({ admittedBy: algorithm, remaining: decisionOf(request)?.remaining })
}
