import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { expect, it } from '@jest/globals'
import { inject } from './inject.ts'

it('a request reaches the application, and its response ends and is closed', async () => {
  const seen: unknown[] = []
  const app: RequestListener = (request, response) => {
    seen.push(request.method, request.url, request.headers.host, request.socket.remoteAddress)
    response.on('close', () => seen.push('closed'))
    response.setHeader('X-Answer', '42')
    response.end('done')
  }
  const response = await inject(app)
  expect(seen).toEqual(['GET', '/', 'example.com', '192.0.2.1', 'closed'])
  expect(response.getHeader('x-answer')).toBe('42')
  expect(response.writableFinished).toBe(true)
})

it('the body of a request ends at once', async () => {
  await inject(async (request, response) => {
    request.resume()
    await once(request, 'end')
    response.end()
  })
})

it('leaves no listeners on the connection', async () => {
  const counts = new Set<number>()
  const app: RequestListener = (request, response) => {
    counts.add(request.socket.eventNames().length + request.socket.listenerCount('close'))
    response.end('done')
  }
  for (let i = 0; i < 3; i += 1) await inject(app)
  expect(counts.size).toBe(1)
})
