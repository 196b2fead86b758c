// Reservations of processes that are killed come back, and what was settled stays charged.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { patient, until } from '@sluice/test-harness/redis'
import { createLimiter } from '../../index.ts'
import type { ReservingWork } from './testing/workers/reserving.ts'

const redis = useRedis()
const KEYS = 50
const LIMIT = 10 ** 9
const STREAMS = 1200
const KILLS = 2

const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

test('four processes, of which one after the other is killed', async () => {
  const code = await bundle(`${__dirname}/testing/workers/reserving.ts`)
  const work: ReservingWork = {
    url: `redis://127.0.0.1:${redis.client.options.port}`,
    keys: KEYS,
    atOnce: 100,
    intended: 'intended',
    confirmed: 'confirmed',
    left: 'left',
  }
  let settled = 0
  const start = () => {
    const child = startBundle(code, { args: [JSON.stringify(work)] })
    child.on('message', () => {
      settled += 1
    })
    children.add(child)
    return child
  }
  const running = Array.from({ length: 4 }, start)
  let killed = 0
  const step = STREAMS / (KILLS + 1)
  const patience = { what: 'streams are settled', withinMs: 600_000 }
  for (let i = 1; i <= KILLS; i += 1) {
    await until(() => settled >= i * step, patience)
    const victim = running.shift() as ChildProcess
    victim.kill('SIGKILL')
    await once(victim, 'exit')
    killed += 1
    running.push(start())
  }
  await until(() => settled >= STREAMS, patience)
  for (const child of running) child.send('end')
  await Promise.all(running.map((child) => child.exitCode ?? once(child, 'exit')))
  expect(killed).toBe(KILLS)

  const options = { limit: LIMIT, window: 'month', reserve: true, hold: '2s' } as const
  const limiter = createLimiter({ ...patient, store: redis.client, ...options })
  const http = createLimiter({ ...patient, store: redis.client, prefix: 'http', ...options })
  const [intended, confirmed, left] = await Promise.all(
    [work.intended, work.confirmed, work.left].map((name) => redis.client.hgetall(name)),
  )
  const charged = async (name: string) => {
    const key = name.replace('http ', 'key:')
    return LIMIT - (await (key === name ? limiter : http).peek(key)).remaining
  }
  // Over HTTP, an estimate whose client had left before the process died stays charged.
  const kept = (key: string) => Number(left?.[key] ?? 0)
  for (let i = 0; i < 2 * KEYS; i += 1) {
    const name = i < KEYS ? `client ${i}` : `http client ${i - KEYS}`
    const [least, most] = [Number(confirmed?.[name] ?? 0), Number(intended?.[name] ?? 0)]
    // What the dead have reserved is back within hold.
    await until(async () => (await charged(name)) <= most + kept(name), {
      what: `${name} is given back`,
    })
    expect(await charged(name)).toBeGreaterThanOrEqual(least)
  }
  http.close()
  limiter.close()
})
