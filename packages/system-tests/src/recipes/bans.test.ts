import { expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import express from 'express'
import request from 'supertest'
import { bans } from './bans.ts'
import { expectShown } from './document.ts'

test('a client that ignores refusals is banned, and for longer when it goes on', async () => {
  const clock = manualClock()
  const store = memoryStore({ clock })
  const app = express()
  const warnings: string[] = []
  bans(app, store, (text) => warnings.push(text))
  app.get('/api', (_, response) => void response.end())
  const get = () => request(app).get('/api')

  expect((await get()).status).toBe(200)
  for (const minutes of [1, 10]) {
    for (let i = 0; i < 102; i += 1) await get()
    const refused = await get()
    expect(refused.status).toBe(429)
    expect(refused.body).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#abnormal-usage-detected',
      title: 'Abnormal Usage Detected',
      status: 429,
      'violated-policies': ['default'],
    })
    const seconds = Number(refused.headers['retry-after'])
    expect(seconds).toBeGreaterThanOrEqual(60 * minutes)
    expect(seconds).toBeLessThanOrEqual(60 * minutes + 30)
    expect(warnings.at(-1)).toMatch(new RegExp(`is banned for ${minutes} min$`))
    clock.advance(60_000 * minutes + 60_000)
  }
  expect(warnings).toHaveLength(2)
  expect((await get()).status).toBe(200)
  store.close()
})

test('the page shows this code', () => expectShown('bans.ts'))
