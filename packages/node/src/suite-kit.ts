import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AdapterKit, middlewareOf, writeChunks } from '@sluice/test-suites'
import { rateLimit } from './index.ts'

export const kit: AdapterKit<IncomingMessage, ServerResponse> = {
  serve(site) {
    const trustProxy = site.trustProxy as string | undefined
    const limits = middlewareOf(site, (options) => rateLimit({ trustProxy, ...options }))
    return createServer((request, response) => {
      Object.assign(request, { user: site.user(request) })
      for (const [name, value] of Object.entries(site.fields)) response.setHeader(name, value)
      if (site.early !== undefined) response.end(site.early)
      const failed = (error: unknown) => {
        site.failed(error)
        response.writeHead(500).end()
      }
      const application = async () => {
        if (request.url?.split('?')[0] !== '/') return void response.writeHead(404).end()
        const { status, body, chunks } = await site.handle(request.rateLimit)
        if (response.headersSent) return
        response.statusCode = status
        if (chunks === undefined) response.end(body)
        else await writeChunks(response, chunks)
      }
      const chain = limits.reduceRight<() => void>(
        (next, limit) => () => limit(request, response, next, failed),
        application,
      )
      chain()
    })
  },
  read: (request) => request,
  send: (response, body) => response.end(body),
}
