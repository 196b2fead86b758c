// Several processes lease a key of one Redis: together they admit the limit, and call it rarely.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, describe, expect, it } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { bundle, runInProcesses, startBundle } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'
import type { Got, LeasingWork } from './testing/leasing.ts'
import type { SpendingWork } from './testing/spending.ts'

const worker = new URL(`file://${__dirname}/testing/leasing.ts`)
const redis = useRedis()

const LIMIT = 10_000

/** A process each asks for the key until nothing is left. */
async function asking(processes: number, work: Pick<LeasingWork, 'lease' | 'options'>) {
  const all = { ...work, url: redis.server.url, atOnce: 5 }
  const got = await runInProcesses<Got>(worker, processes, all)
  const sumOf = (name: keyof Got) => got.reduce((sum, each) => sum + each[name], 0)
  return { admitted: sumOf('admitted'), calls: sumOf('calls') }
}

/** Now is the middle of such a window. */
const optionsOf = (
  algorithm: 'fixed-window' | 'sliding-window' | 'sliding-log',
  prefix: string,
) => {
  return { limit: LIMIT, window: Math.floor(Date.now() / 6.5), algorithm, prefix }
}

const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

describe('processes that lease a key', () => {
  it.each([
    [2, 'fixed-window'],
    [2, 'sliding-window'],
    [4, 'sliding-log'],
  ] as const)('%d of them, with a %s, admit the limit together', async (processes, algorithm) => {
    const options = optionsOf(algorithm, `leased-${algorithm}`)
    const { admitted } = await asking(processes, { options, lease: 50 })
    expect(admitted).toBeLessThanOrEqual(LIMIT)
    expect(admitted).toBeGreaterThanOrEqual(0.97 * LIMIT)
  })

  it('call the store less than half as often as without leases, of which five requests share a call', async () => {
    const leased = await asking(2, { options: optionsOf('fixed-window', 'calls'), lease: 50 })
    const plain = await asking(2, { options: optionsOf('fixed-window', 'plain') })
    expect(leased.calls).toBeLessThan(plain.calls / 2)
  })

  it('take at most their leases with them when they are killed', async () => {
    const code = await bundle(`${__dirname}/testing/spending.ts`)
    const options = { ...optionsOf('fixed-window', ''), prefix: undefined }
    const work: SpendingWork = { url: redis.server.url, options, lease: 100 }
    let admitted = 0
    const running = Array.from({ length: 4 }, () => {
      const child = startBundle(code, { args: [JSON.stringify(work)] })
      child.on('message', (units) => {
        admitted += units as number
      })
      children.add(child)
      return child
    })
    for (const share of [0.2, 0.4]) {
      await until(() => admitted >= share * LIMIT, { what: 'units are used', withinMs: 60_000 })
      const victim = running.shift() as ChildProcess
      victim.kill('SIGKILL')
      await once(victim, 'exit')
    }
    await Promise.all(running.map((child) => child.exitCode ?? once(child, 'exit')))
    expect(admitted).toBeLessThanOrEqual(LIMIT)
    // A lease is a quarter of what remained, at most.
    expect(admitted).toBeGreaterThanOrEqual(LIMIT * (1 - 0.8 / 4 - 0.6 / 4))
  })
})
