import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { LOOPBACK } from './ports.ts'
import { reset } from './reset.ts'

const listener = createServer({ allowHalfOpen: true })
beforeAll(async () => {
  listener.listen(0, LOOPBACK)
  await once(listener, 'listening')
})
afterAll(() => void listener.close())

async function pair(): Promise<[Socket, Socket]> {
  const { port } = listener.address() as AddressInfo
  const accepted = once(listener, 'connection')
  const near = connect(port, LOOPBACK)
  const [[far]] = await Promise.all([accepted, once(near, 'connect')])
  return [near, far as Socket]
}

test('the other side sees ECONNRESET', async () => {
  const [near, far] = await pair()
  const failure = once(far, 'error')
  reset(near)
  expect(await failure).toEqual([expect.objectContaining({ code: 'ECONNRESET' })])
})

test('a socket that is just ending closes too, without an error', async () => {
  const [near, far] = await pair()
  far.on('error', () => {})
  const closed = once(near, 'close')
  near.end('last words')
  reset(near)
  await closed
  far.destroy()
})
