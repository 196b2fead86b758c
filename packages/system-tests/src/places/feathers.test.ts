import { feathers } from '@feathersjs/feathers'
import socketio from '@feathersjs/socketio-client'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Program } from '@sluice/test-harness/processes'
import { io, type Socket } from 'socket.io-client'
import { patientProgramOf, startProgram } from './page.ts'

/** A service, which another calls; and what listens. */
const SERVICES = `
app.use('echo', { get: async (id) => ({ id }) })
app.use('inner', { get: async (id) => app.service('echo').get(id) })
app.use(express.errorHandler())
await app.listen(0)
`

let place: Program
const sockets: Socket[] = []
beforeEach(async () => {
  place = await startProgram(patientProgramOf('feathers') + SERVICES)
})
afterEach(async () => {
  for (const each of sockets.splice(0)) each.disconnect()
  await place.stop()
})

test("HTTP and sockets share one limit, and calls of the application's own are free", async () => {
  const socket = io(place.url, { transports: ['websocket'] })
  sockets.push(socket)
  const client = feathers().configure(socketio.default(socket as never))
  for (let i = 0; i < 50; i += 1) {
    expect(await client.service('inner').get(i)).toEqual({ id: i })
    expect((await fetch(`${place.url}/inner/${i}`)).status).toBe(200)
  }
  const refusal = {
    code: 429,
    name: 'TooManyRequests',
    data: { retryAfterMs: expect.any(Number) },
  }
  await expect(client.service('echo').get(1)).rejects.toMatchObject(refusal)
  const response = await fetch(`${place.url}/echo/1`, { headers: { Accept: 'application/json' } })
  expect([response.status, await response.json()]).toMatchObject([429, refusal])
})
