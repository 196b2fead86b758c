import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import * as runner from '@jest/globals'
import type { FetchReply } from '@sluice/http/adapter'
import { everyStore, frameworkRunner, isAll, useRedis } from '@sluice/test-harness/jest'
import { type AdapterStores, adapterSuite, fetchServer, streamChunks } from '@sluice/test-suites'
import type { Context } from 'hono'
import { createAdaptorServer as serve1 } from 'node-server1'
import { decisionOf, limitFetch, memoryStore, redisStore } from './index.ts'
import { onHono } from './suite-kit.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const memory: AdapterStores = { memory: (clock) => memoryStore({ ...(clock && { clock }) }) }
const remote: AdapterStores = {
  Redis: (clock) => redisStore(redis.client, { ...(clock && { clock }) }),
}
const every = everyStore && { ...memory, ...remote }

const address = (c: Context) => getConnInfo(c).remote.address

adapterSuite(frameworkRunner, 'Hono', onHono(createAdaptorServer, address), every || remote)
if (isAll)
  adapterSuite(
    frameworkRunner,
    'Hono on @hono/node-server 1',
    onHono(serve1, address),
    every || memory,
  )

adapterSuite<Request, FetchReply>(
  runner,
  'a function of a Request',
  {
    serve(site) {
      const trustProxy = site.trustProxy as string | undefined
      type Handler = (request: Request, address: string | undefined) => Promise<Response>
      const application: Handler = async (request) => {
        if (new URL(request.url).pathname !== '/') return new Response(null, { status: 404 })
        const { status, body, chunks } = await site.handle(decisionOf(request))
        if (chunks !== undefined) return new Response(streamChunks(chunks), { status })
        return new Response(status === 304 ? null : body, { status })
      }
      const limited = site.limiters.reduceRight<Handler>((handler, options) => {
        const user = options.user ?? ((request: Request) => idOf(site.user(request)))
        const address = (_: Request, given: string | undefined) => given
        return limitFetch({ address, trustProxy, ...options, user }, handler)
      }, application)
      return fetchServer(async (request, address) => {
        if (site.early !== undefined) return new Response(site.early)
        try {
          const response = await limited(request, address)
          for (const [name, value] of Object.entries(site.fields))
            if (!response.headers.has(name)) response.headers.set(name, value)
          return response
        } catch (error) {
          site.failed(error)
          return new Response(null, { status: 500 })
        }
      })
    },
    read: ({ url, headers }) => ({
      url: url.slice(new URL(url).origin.length),
      headers: Object.fromEntries(headers),
    }),
    send: (_reply, body) => new Response(body),
  },
  memory,
)

/** The standard has no place for a user: the application reads it. */
function idOf(user: unknown): string | undefined {
  if (typeof user !== 'object') return user as string | undefined
  const { id, sub } = (user ?? {}) as { id?: string; sub?: string }
  return id ?? sub
}
