import { request } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Program } from '@sluice/test-harness/processes'
import { programOf, startProgram } from './page.ts'

let place: Program
beforeEach(async () => {
  place = await startProgram(programOf('api-keys'))
})
afterEach(() => place.stop())

interface Reply {
  readonly status: number
  /** What is left, by policy: the last part of `RateLimit`. */
  readonly left: Record<string, number>
}

function send(authorization: string | string[] = [], path = '/'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: authorization, 'X-Api-Key': 'secret-of-b1' }
    const sent = request(`${place.url}${path}`, { headers, agent: false }, (response) => {
      const fields = String(response.headers.ratelimit).matchAll(/"(\w+)";r=(\d+)/g)
      const left = Object.fromEntries([...fields].map(([, name, units]) => [name, Number(units)]))
      response.resume().on('end', () => resolve({ status: response.statusCode as number, left }))
    })
    sent.on('error', reject).end()
  })
}

async function statuses(count: number, authorization: (i: number) => string | string[]) {
  const replies: Reply[] = []
  for (let i = 0; i < count; i += 1) replies.push(await send(authorization(i)))
  return replies.map(({ status }) => status)
}

test('who invents keys gets no quota, and is refused before they are looked up', async () => {
  const found = await statuses(25, (i) => `Bearer invented-${i}`)
  expect(found).toEqual([...Array(20).fill(401), ...Array(5).fill(429)])
  expect(await send('Bearer secret-of-b1')).toMatchObject({ status: 429 })
})

test('what is no key', async () => {
  const spellings = [
    [],
    'Bearer a1',
    'Basic secret-of-a1',
    'Bearer invented secret-of-a1',
    'Bearer secret-of-a1, Bearer secret-of-b1',
  ]
  for (const each of spellings) {
    expect(await send(each, '/?api_key=secret-of-b1')).toMatchObject({ status: 401 })
  }
})

test('a good key never meets the limit of failures, and has a limit of its own', async () => {
  const replies = await statuses(101, (i) =>
    i % 2 ? 'bearer secret-of-b1' : 'Bearer secret-of-b1',
  )
  expect(replies).toEqual([...Array(100).fill(200), 429])
  expect(await send('Bearer secret-of-a1')).toMatchObject({ status: 200 })
})

test('the keys of an account share its limit; another account is not affected', async () => {
  await statuses(100, () => 'Bearer secret-of-a1')
  expect(await statuses(51, () => 'Bearer secret-of-a2')).toEqual([...Array(50).fill(200), 429])
  expect(await send('Bearer secret-of-a2')).toEqual({ status: 429, left: { account: 0 } })
  expect(await send('Bearer secret-of-b1')).toEqual({
    status: 200,
    left: { default: 20, key: 99, account: 999 },
  })
})
