import type { IncomingMessage } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import { plain } from '../testing/plain-server.ts'
import { usageOf } from './usage.ts'
import { usageReply } from './usage-reply.ts'

const closing: { close(): void }[] = []
afterEach(() => {
  for (const each of closing.splice(0)) each.close()
})

const request = {
  method: 'GET',
  url: '/usage',
  headers: {},
  socket: { remoteAddress: '203.0.113.7' },
}

function usageWith(options: object, routes: object) {
  const terms = { limit: 10, window: '1h' }
  const limiter = new RoutedLimiter({ ...terms, ...options, routes } as never, plain as never)
  closing.push(limiter.limiter)
  return usageOf(limiter.httpLimiters, request as IncomingMessage as never)
}

const OWN = { limit: 3, window: '1m' }

test.each(['allow', 'deny'])('a route’s own %s list is not everybody’s', async (list) => {
  const usage = await usageWith({}, { '/internal': { ...OWN, [list]: ['203.0.113.0/24'] } })
  expect(usage).not.toHaveProperty('listed')
  expect(usage).toMatchObject({ complete: true, policies: [{ limit: 10 }] })
  expect(usage?.routes).toEqual([{ route: '/internal', listed: list }])
  const page = usageReply(usage as never, 'text/html').body
  expect(page).toContain('/internal: ')
  expect(page).not.toMatch(/<p>(Requests are not limited|All requests are refused)/)
})

test('what all have says nothing of a route', async () => {
  const usage = await usageWith({ allow: ['203.0.113.7'] }, { '/a': OWN })
  expect(usage).toMatchObject({ listed: 'allow' })
  expect(usage).not.toHaveProperty('routes')
})

test('a route whose key needs a body leaves the others as they are', async () => {
  const key = ({ body }: { body: { name: string } }) => body.name
  const usage = await usageWith({}, { 'POST /login': { ...OWN, key }, '/b': OWN })
  expect(usage?.routes).toEqual([{ route: '/login', complete: false }])
  expect(usage?.complete).toBe(true)
  expect(usage?.policies.map(({ limit }) => limit)).toEqual([10, 3])
  const page = usageReply(usage as never, 'text/html').body
  expect(page).toContain('/login: this request does not say who would be limited there.')
})

test('a function of all routes that fails is an error', async () => {
  const failing = usageWith({ key: () => JSON.parse('') }, {})
  await expect(failing).rejects.toThrow(SyntaxError)
})
