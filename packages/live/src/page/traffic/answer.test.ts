import { expect, test } from '@jest/globals'
import { readAnswer } from './answer.ts'

const request = { algorithm: 'token-bucket', number: 7, sentAt: 1000 } as const

test('an answer is read from its status and fields', () => {
  const headers = new Headers({
    'RateLimit-Policy': '"default";q=5;w=5',
    RateLimit: '"default";r=0;t=13',
    'Retry-After': '14',
    Date: 'Sat, 21 Nov 2026 12:00:00 GMT',
  })
  const answer = readAnswer(request, { status: 429, headers }, 1010)
  expect(answer).toMatchObject({
    ...request,
    answeredAt: 1010,
    status: 429,
    limit: 5,
    remaining: 0,
    effectiveMs: 13_000,
    retryAfterMs: 14_000,
  })
  expect([...answer.fields.keys()]).toEqual(['RateLimit-Policy', 'RateLimit', 'Retry-After'])
})

test('an admitted one has nothing to wait for', () => {
  const headers = new Headers({
    'RateLimit-Policy': '"default";q=5;w=5',
    RateLimit: '"default";r=4;t=4',
  })
  expect(readAnswer(request, { status: 200, headers }, 1010).retryAfterMs).toBeUndefined()
})

test('without a window there is no time', () => {
  const headers = new Headers({
    'RateLimit-Policy': '"default";q=2;qu="concurrent-requests"',
    RateLimit: '"default";r=1',
  })
  const answer = readAnswer(request, { status: 200, headers }, 1010)
  expect(answer).toMatchObject({ limit: 2, remaining: 1, effectiveMs: 0 })
})

test.each([
  [{}, 'no q in RateLimit-Policy'],
  [{ 'RateLimit-Policy': '"default";q=5;w=5' }, 'no r in RateLimit'],
])('fields that are missing are no answer of a limiter: %j', (fields, message) => {
  const read = () => readAnswer(request, { status: 200, headers: new Headers(fields) }, 1010)
  expect(read).toThrow(message)
})
