import type { Server } from 'node:http'
import type { Decision } from '@sluice/core'
import type { FetchReply } from '@sluice/http/adapter'
import { type AdapterKit, streamChunks } from '@sluice/test-suites'
import { Elysia, type ElysiaConfig } from 'elysia'
import { type ElysiaContext, rateLimit } from './index.ts'

/**
 * @param serve makes a server of an application
 * @param settings the application's, such as the adapter of that server
 * @param address reads the client's address; undefined if the server says it
 */
export const onElysia = (
  serve: (app: Elysia) => unknown,
  settings: ElysiaConfig<''> = {},
  address?: (c: ElysiaContext) => string | undefined,
): AdapterKit<ElysiaContext, FetchReply> => ({
  serve(site) {
    const trustProxy = site.trustProxy as string | undefined
    // Requests of the suite have short hosts.
    const app = new Elysia({ ...settings, handler: { standardHostname: false } })
    app.onError(({ error, code }) => {
      if (code === 'NOT_FOUND') return new Response(null, { status: 404 })
      site.failed(error)
      return new Response(null, { status: 500 })
    })
    app.onRequest((c) => {
      Object.assign(c, { user: site.user(c as unknown as ElysiaContext) })
      Object.assign(c.set.headers, site.fields)
      return site.early === undefined ? undefined : new Response(site.early)
    })
    const plugins = site.limiters.map((options) => rateLimit({ address, trustProxy, ...options }))
    for (const plugin of site.passedTwice ? [...plugins, ...plugins] : plugins) app.use(plugin)
    const answer = async (c: object) => {
      const { status, body, chunks } = await site.handle((c as { rateLimit?: Decision }).rateLimit)
      if (chunks !== undefined) return new Response(streamChunks(chunks), { status })
      return new Response(status === 304 ? null : body, { status })
    }
    app.all('/', (c) => answer(c))
    return serve(app) as Server
  },
  read: ({ request: { url, headers } }) => ({
    url: url.slice(new URL(url).origin.length),
    headers: Object.fromEntries(headers),
  }),
  send: (_reply, body) => new Response(body),
})
