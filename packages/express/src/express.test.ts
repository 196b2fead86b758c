import { createServer } from 'node:http'
import { adapterSuite } from '@sluice/test-suites'
import express5, { type NextFunction, type Request, type Response } from 'express'
import express4 from 'express4'
import { rateLimit } from './index.ts'

for (const [name, express] of [
  ['Express 5', express5],
  ['Express 4', express4 as unknown as typeof express5],
] as const) {
  adapterSuite<Request, Response>(name, {
    serve(site) {
      const app = express()
      if (site.trustProxy !== undefined) app.set('trust proxy', site.trustProxy)
      app.use((request, response, next) => {
        Object.assign(request, { user: site.user(request) })
        site.before(request, response)
        next()
      })
      for (const options of site.limiters) app.use(rateLimit(options))
      app.all('/', ({ rateLimit }, response) => {
        const { status, body } = site.handle(rateLimit)
        if (!response.headersSent) response.status(status).send(body)
      })
      app.use((error: unknown, _: Request, response: Response, __: NextFunction) => {
        site.failed(error)
        response.sendStatus(500)
      })
      return createServer(app)
    },
    node: (request) => request,
    send: (response, body) => response.send(body),
    unsafeTrust: [
      [true, 'SLUICE_PROXY_EVERYBODY'],
      [1, 'SLUICE_PROXY_HOPS'],
    ],
  })
}
