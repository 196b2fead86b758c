import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import express from 'express'
import { shedLoad } from './overload.ts'

/** So many begin before the process knows how long they take. */
const PLACES = 20

test('a request that waits in vain, and is being answered by other middleware, is left alone', async () => {
  let begun = 0
  const app = express()
  app.use('/late', (_, response, next) => {
    next()
    response.writeHead(504)
    response.write('late')
    // The queue has given up by then.
    setTimeout(() => response.end(' answer'), 600)
  })
  app.use(shedLoad({ queue: { max: 10, maxWait: '100ms' } }), () => {
    begun += 1
  })
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const first = Array.from({ length: PLACES }, () => fetch(url).catch(() => {}))
  while (begun < PLACES) await new Promise((resolve) => setTimeout(resolve, 5))
  const response = await fetch(`${url}/late`)
  expect([response.status, await response.text(), begun]).toEqual([504, 'late answer', PLACES])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await Promise.all(first)
})
