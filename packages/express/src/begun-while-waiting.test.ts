import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import express from 'express'
import { shedLoad } from './overload.ts'

test('a request that waits in vain, and is being answered by other middleware, is left alone', async () => {
  let begunTooLate = 0
  let hasBegun = () => {}
  const app = express()
  app.use('/late', (_, response, next) => {
    next()
    response.writeHead(504)
    response.write('late')
    // The queue has given up by then.
    setTimeout(() => response.end(' answer'), 600)
  })
  app.use(shedLoad({ queue: { max: 10, maxWait: '100ms' } }), (_, response) => {
    if (response.headersSent) begunTooLate += 1
    hasBegun()
  })
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const open: Promise<void>[] = []
  let isFull = false
  while (!isFull) {
    const begins = new Promise<void>((resolve) => {
      hasBegun = resolve
    })
    const ended = fetch(url).then(
      ({ status }) => {
        isFull = status === 503
      },
      () => {},
    )
    open.push(ended)
    await Promise.race([begins, ended])
  }
  const response = await fetch(`${url}/late`)
  expect([response.status, await response.text(), begunTooLate]).toEqual([504, 'late answer', 0])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await Promise.all(open)
})
