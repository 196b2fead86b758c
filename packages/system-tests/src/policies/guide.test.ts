// The guide of docs/live-policies.md over HTTP: a dry run, a tenth of the clients, everybody.

import { createServer } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { type Decision, memoryStore } from '@sluice/core'
import { rateLimit } from '@sluice/express'
import express from 'express'
import request from 'supertest'

const CLIENTS = Array.from({ length: 100 }, (_, i) => `user-${i}`)

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A site with a second limit, of no request at all. */
function site(second: object) {
  const decisions: Decision[] = []
  const limit = rateLimit({
    store: memoryStore(),
    name: 'api',
    key: (req) => req.get('x-user') as string,
    headers: ['draft-11'],
    policies: [
      { name: 'burst', limit: 1000, window: '1h' },
      { name: 'new', limit: 0, window: '1h', ...second },
    ],
    onDecision: (decision) => void decisions.push(decision),
  })
  const app = express()
  app.use(limit)
  app.get('/', (_, res) => void res.send('served'))
  const server = createServer(app).listen(0)
  ends.push(() => new Promise((resolve) => server.close(resolve)))

  /** Every client comes once. @returns those that are refused, after it has looked what is said of the others */
  async function refused(): Promise<string[]> {
    const found: string[] = []
    decisions.length = 0
    for (const user of CLIENTS) {
      const { status, headers } = await request(server).get('/').set('x-user', user)
      expect(`${headers.ratelimit}`.includes('"new"')).toBe(status === 429)
      if (status === 429) found.push(user)
    }
    const wouldRefuse = decisions.filter(({ policies }) => policies[1]?.dryRun)
    expect(wouldRefuse.map(({ policies }) => policies[1]?.allowed)).not.toContain(true)
    expect(wouldRefuse.length + found.length).toBe(CLIENTS.length)
    return found
  }
  return { refused, policies: limit.limiter.policies }
}

test('in the code: three deploys', async () => {
  expect(await site({ dryRun: true }).refused()).toEqual([])
  const tenth = await site({ enforce: 0.1 }).refused()
  expect(tenth.length).toBeGreaterThan(2)
  expect(tenth.length).toBeLessThan(25)
  // Another process, or the same one after a restart, and a larger share.
  expect(await site({ enforce: 0.1 }).refused()).toEqual(tenth)
  expect(await site({ enforce: 0.3 }).refused()).toEqual(expect.arrayContaining(tenth))
  expect(await site({}).refused()).toEqual(CLIENTS)
})

test('while the application runs, and back', async () => {
  const tenth = await site({ enforce: 0.1 }).refused()
  const { refused, policies } = site({ dryRun: true, live: true })
  expect(await refused()).toEqual([])
  await policies.set('api/new', { enforce: 0.1 })
  expect(await refused()).toEqual(tenth)
  await policies.set('api/new', { dryRun: false })
  expect(await refused()).toEqual(CLIENTS)
  await policies.rollback()
  expect(await refused()).toEqual(tenth)
  await policies.unset('api/new')
  expect(await refused()).toEqual([])
})
