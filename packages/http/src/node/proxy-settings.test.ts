import { expect, test } from '@jest/globals'
import { fastifyTrust } from './proxy-settings.ts'

test.each([
  ['5.0.0', 'hops'],
  ['5.11.9', 'hops'],
  ['5.12.0', 'hops'],
  ['5.12.1', 'ignored'],
  ['5.13.0', 'ignored'],
  ['6.0.0-alpha.1', 'ignored'],
  ['6.1.0', 'ignored'],
])('of Fastify %s, a number of proxies is %s', (version, trust) => {
  const app = { version, [Symbol('fastify.options')]: { trustProxy: 1 } }
  expect(fastifyTrust(app)).toBe(trust)
})
