import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, jest, test } from '@jest/globals'
import { plain } from '../../testing/plain-server.ts'
import { RoutedLimiter } from '../routed-limiter.ts'
import { WirePolicy } from './wire-policy.ts'
import { readWritten } from './written.ts'

/** Another copy of the package in this process, as ESM and CommonJS are. */
function copyOf<T>(path: string): T {
  let copy: T | undefined
  jest.isolateModules(() => {
    copy = jest.requireActual<T>(path)
  })
  return copy as T
}

test('limiters of two copies of the package write fields that list the policies of both', async () => {
  const Copy = copyOf<typeof import('../routed-limiter.ts')>('../routed-limiter.ts').RoutedLimiter
  expect(Copy).not.toBe(RoutedLimiter)
  const terms = { limit: 5, window: '1m', algorithm: 'fixed-window' } as const
  const httpLimiters = [new RoutedLimiter(terms, plain), new Copy({ ...terms, limit: 1 }, plain)]
  httpLimiters.push(new RoutedLimiter({ ...terms, limit: 7 }, plain))
  let last: IncomingMessage | undefined
  const server = createServer(async (request, response) => {
    last = request
    for (const { base } of httpLimiters) {
      if (!(await base.handle(request, response, () => true))) return
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { headers } = await fetch(url)
  expect(headers.get('RateLimit-Policy')).toBe(
    '"default";q=5;w=60, "default-2";q=1;w=60, "default-3";q=7;w=60',
  )
  expect(headers.get('RateLimit')).toMatch(
    /^"default";r=4;t=\d+, "default-2";r=0;t=\d+, "default-3";r=6;t=\d+$/,
  )
  const written = readWritten(last as IncomingMessage)
  expect(written?.items.every(({ policy }) => policy instanceof WirePolicy)).toBe(true)
  const refused = await fetch(url)
  expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['default-2'] })
  expect(refused.headers.get('RateLimit')).toMatch(/^"default-2";r=0;t=\d+$/)
  server.closeAllConnections()
  server.close()
})
