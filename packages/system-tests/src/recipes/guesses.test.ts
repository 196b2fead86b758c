import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore, type RateLimitHandler } from '@sluice/express'
import express, { type Express } from 'express'
import request from 'supertest'
import { expectShown } from './document.ts'
import { guesses } from './guesses.ts'

let app: Express
let limit: RateLimitHandler
let store: ReturnType<typeof memoryStore>

beforeEach(() => {
  store = memoryStore({ clock: manualClock() })
  app = express().set('trust proxy', 'loopback')
  limit = guesses(app, store, ({ body }, response) => {
    response.sendStatus(body?.password === 'right' ? 200 : 401)
  })
})
afterEach(() => store.close())

async function login(user: unknown, password: string, address: string): Promise<number> {
  const sent = request(app).post('/login').set('x-forwarded-for', address)
  return (await sent.send({ user, password })).status
}

test('an account is guessed ten times, from however many addresses and however its name is written', async () => {
  const names = ['ada', 'Ada', ' ADA ', 'aDa\n']
  for (let i = 0; i < 10; i += 1)
    expect(await login(names[i % 4], 'wrong', `192.0.2.${i}`)).toBe(401)
  expect(await login('ada', 'right', '192.0.2.99')).toBe(429)
  expect(await login('ben', 'right', '192.0.2.99')).toBe(200)
  await limit.limiter.reset('key:ada')
  expect(await login('ada', 'right', '192.0.2.99')).toBe(200)
})

test('guesses that come together are no more', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 30 }, (_, i) => login('ada', 'wrong', `192.0.2.${i}`)),
  )
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
})

test('an address guesses twenty times, for however many accounts', async () => {
  for (let i = 0; i < 20; i += 1) expect(await login(`user-${i}`, 'wrong', '192.0.2.1')).toBe(401)
  expect(await login('ada', 'right', '192.0.2.1')).toBe(429)
  expect(await login('ada', 'right', '192.0.2.2')).toBe(200)
})

test('right passwords cost nothing, and a name that is none shares one quota', async () => {
  for (let i = 0; i < 30; i += 1) expect(await login('ada', 'right', '192.0.2.1')).toBe(200)
  const names = [undefined, 'undefined', ' undefined']
  for (let i = 0; i < 10; i += 1)
    expect(await login(names[i % 3], 'wrong', `192.0.2.${i}`)).toBe(401)
  expect(await login(undefined, 'right', '192.0.2.99')).toBe(429)
})

test('the page shows this code', () => expectShown('guesses.ts'))
