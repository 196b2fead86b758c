import { expect, test } from '@jest/globals'
import { isDecided, noteDecided } from './respond.ts'

test('each limiter by itself, each request by itself', () => {
  const [a, b, c] = [{}, {}, {}]
  const request = {}
  noteDecided(request, a)
  noteDecided(request, b)
  expect([a, b, c].map((limiter) => isDecided(request, limiter))).toEqual([true, true, false])
  expect(isDecided({}, a)).toBe(false)
})

test('a request that is made from another, as parts of a batch are, is a new one', () => {
  const limiter = {}
  const batch = {}
  noteDecided(batch, limiter)
  const part = Object.create(batch) as object
  expect(isDecided(part, limiter)).toBe(false)
  noteDecided(part, limiter)
  expect(isDecided(part, limiter)).toBe(true)
  expect(isDecided(batch, {})).toBe(false)
})
