import { expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import { until } from '@sluice/test-harness/redis'
import express from 'express'
import request from 'supertest'
import { expectShown } from './document.ts'
import { notFound } from './not-found.ts'

test('a client that asks for what is not there is banned, and one that finds it is not', async () => {
  const store = memoryStore({ clock: manualClock() })
  const app = express().set('trust proxy', true)
  const { limiter } = notFound(app, store)
  app.get('/found', (_, response) => void response.end())
  const get = (path: string, address: string) =>
    request(app).get(path).set('x-forwarded-for', address)

  for (let i = 1; i <= 20; i += 1) {
    expect((await get('/wp-login.php', '192.0.2.1')).status).toBe(404)
    const isSettled = async () => (await limiter.peek('192.0.2.1')).remaining === 20 - i
    await until(isSettled, { what: 'the 404 is charged' })
    expect((await get('/found', '192.0.2.2')).status).toBe(200)
  }
  const { status, headers } = await get('/found', '192.0.2.1')
  expect(status).toBe(429)
  const seconds = Number(headers['retry-after'])
  expect(seconds).toBeGreaterThanOrEqual(3600)
  expect(seconds).toBeLessThanOrEqual(3630)
  expect((await get('/found', '192.0.2.2')).status).toBe(200)
  store.close()
})

test('the page shows this code', () => expectShown('not-found.ts'))
