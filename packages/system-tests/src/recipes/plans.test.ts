import { expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import express from 'express'
import request from 'supertest'
import { expectShown } from './document.ts'
import { plans } from './plans.ts'

test('a plan renews at midnight of its day, for each client', async () => {
  const clock = manualClock(new Date('2026-11-30T12:00:00Z').getTime())
  const store = memoryStore({ clock })
  const app = express()
  const renewals: Record<string, string> = { ada: '2026-01-31', ben: '2026-11-15' }
  app.use((req, _, next) => {
    Object.assign(req, { user: { id: req.get('x-user') } })
    next()
  })
  plans(app, store, (req) => renewals[req.get('x-user') as string])
  app.get('/api', (_, response) => void response.end())
  const ends = async (user: string) => {
    const { headers } = await request(app).get('/api').set('x-user', user)
    const [, seconds] = /"month";r=9999;t=(\d+)/.exec(headers.ratelimit as string) ?? []
    return new Date(clock() + Number(seconds) * 1000).toJSON()
  }
  // November has no 31st: Ada's month began on the 30th, at midnight in Berlin.
  expect(await ends('ada')).toBe('2026-12-30T23:00:00.000Z')
  expect(await ends('ben')).toBe('2026-12-14T23:00:00.000Z')
  store.close()
})

test('the page shows this code', () => expectShown('plans.ts'))
