import { createServer } from 'node:http'
import { type AdapterKit, middlewareOf, writeChunks } from '@sluice/test-suites'
import type express5 from 'express'
import type { NextFunction, Request, Response } from 'express'
import { rateLimit } from './index.ts'

/** @param express the version that serves */
export const kitOf = (express: typeof express5): AdapterKit<Request, Response> => ({
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
})
