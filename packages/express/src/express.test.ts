import { createServer } from 'node:http'
import { everyStore, frameworkRunner, isAll, useRedis } from '@sluice/test-harness/jest'
import {
  type AdapterKit,
  type AdapterStores,
  adapterSuite,
  middlewareOf,
  writeChunks,
} from '@sluice/test-suites'
import express5, { type NextFunction, type Request, type Response } from 'express'
import express4 from 'express4'
import { memoryStore, rateLimit, redisStore } from './index.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const memory: AdapterStores = { memory: (clock) => memoryStore({ ...(clock && { clock }) }) }
const remote: AdapterStores = {
  Redis: (clock) => redisStore(redis.client, { ...(clock && { clock }) }),
}
const every = everyStore && { ...memory, ...remote }

for (const [name, express, stores] of [
  ['Express 5', express5, every || remote],
  ...(isAll
    ? [['Express 4', express4 as unknown as typeof express5, every || memory] as const]
    : []),
] as const) {
  const kit: AdapterKit<Request, Response> = {
    serve(site) {
      const app = express()
      if (site.trustProxy !== undefined) app.set('trust proxy', site.trustProxy)
      app.use((request, response, next) => {
        Object.assign(request, { user: site.user(request) })
        response.set(site.fields)
        if (site.early !== undefined) response.end(site.early)
        next()
      })
      for (const each of middlewareOf(site, rateLimit)) app.use(each)
      app.all('/', async ({ rateLimit }, response) => {
        const { status, body, chunks } = await site.handle(rateLimit)
        if (response.headersSent) return
        if (chunks === undefined) response.status(status).send(body)
        else await writeChunks(response.status(status), chunks)
      })
      app.use((error: unknown, _: Request, response: Response, __: NextFunction) => {
        site.failed(error)
        response.sendStatus(500)
      })
      return createServer(app)
    },
    read: (request) => request,
    send: (response, body) => response.send(body),
    unsafeTrust: [
      [true, 'SLUICE_PROXY_EVERYBODY'],
      [1, 'SLUICE_PROXY_HOPS'],
    ],
  }
  adapterSuite(frameworkRunner, name, kit, stores)
}
