// Several processes lease a key of one Redis: together they admit the limit, and call it rarely.

import { describe, expect, it } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { runInProcesses } from '@sluice/test-harness/processes'
import type { Got, LeasingWork } from './testing/leasing.ts'

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
})
