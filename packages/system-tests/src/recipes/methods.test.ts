import { expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import express from 'express'
import request from 'supertest'
import { expectShown } from './document.ts'
import { methods } from './methods.ts'

test('each method has its own limit and count', async () => {
  const store = memoryStore({ clock: manualClock() })
  const app = express()
  methods(app, store)
  app.use('/api', (_, response) => void response.end())
  const left = async (method: 'get' | 'post' | 'delete') => {
    const { headers } = await request(app)[method]('/api/posts')
    return Number(/r=(\d+)/.exec(headers.ratelimit as string)?.[1])
  }
  expect([await left('get'), await left('post'), await left('delete')]).toEqual([299, 19, 4])
  expect([await left('get'), await left('post'), await left('delete')]).toEqual([298, 18, 3])
  store.close()
})

test('the page shows this code', () => expectShown('methods.ts'))
