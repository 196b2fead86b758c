import { expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import express from 'express'
import request from 'supertest'
import { expectShown } from './document.ts'
import { windows } from './windows.ts'

test('each plan has its own window; a client that changes its plan has both quotas, once', async () => {
  const store = memoryStore({ clock: manualClock() })
  const app = express()
  app.use((req, _, next) => {
    Object.assign(req, { user: { id: 'ada' } })
    next()
  })
  const { limiter } = windows(app, store, (req) => req.get('x-plan') as 'free' | 'pro')
  app.get('/api', (_, response) => void response.end())
  const get = (plan: string) => request(app).get('/api').set('x-plan', plan)
  const left = async (plan: string) => (await get(plan)).headers.ratelimit

  expect((await get('free')).headers['ratelimit-policy']).toBe('"default";q=100;w=86400')
  expect((await get('pro')).headers['ratelimit-policy']).toBe('"default";q=600;w=60')
  expect(await left('free')).toMatch(/r=98;/)
  expect(await left('pro')).toMatch(/r=598;/)
  expect(await limiter.peek('user:ada', { limit: 600, window: '1m' })).toMatchObject({
    remaining: 598,
  })
  await limiter.reset('user:ada')
  expect([await left('free'), await left('pro')]).toEqual([
    expect.stringMatching(/r=99;/),
    expect.stringMatching(/r=599;/),
  ])
  store.close()
})

test('the page shows this code', () => expectShown('windows.ts'))
