import { afterEach, expect, jest, test } from '@jest/globals'
import { manualClock, reset } from '@sluice/core/testing'
import { createLimiter, memoryStore, type RateLimitOptions, rateLimit } from '@sluice/express'
import express from 'express'
import request from 'supertest'

const yourApp = (store: RateLimitOptions['store']) =>
  express().use(rateLimit({ store, limit: 5, window: '1m' }))

afterEach(() => {
  jest.useRealTimers()
  reset()
})

test('it refuses the sixth request, until Retry-After has passed', async () => {
  const clock = manualClock()
  const app = yourApp(memoryStore({ clock }))
  for (let i = 0; i < 5; i += 1) await request(app).get('/').expect(404)
  const { headers } = await request(app).get('/').expect(429)
  clock.advance(Number(headers['retry-after']) * 1000)
  await request(app).get('/').expect(404)
})

test('fake timers move a limiter in memory', () => {
  jest.useFakeTimers()
  const limiter = createLimiter({ limit: 1, window: '1m' })
  limiter.consume('client-1')
  jest.advanceTimersByTime(limiter.consume('client-1').retryAfterMs)
  expect(limiter.consume('client-1').allowed).toBe(true)
})
