import { afterEach, expect, jest, test } from '@jest/globals'
import { withVerbs } from '@sluice/core/testing'
import { fixedWindow } from '../../core/src/algorithms/fixed-window/fixed-window.ts'
import { durableObjectStore } from './durable-object-store.ts'

const HOUR = 3_600_000
/** An hour begins, and a day ends 16 hours later. */
const NOW = 1_800_000_000_000

afterEach(() => {
  jest.restoreAllMocks()
})

test('the alarm comes ten minutes after everything has expired, and is moved only for what lives longer', async () => {
  const time = jest.spyOn(Date, 'now').mockReturnValue(NOW)
  const rows = new Map<string, unknown>()
  const alarms: number[] = []
  const store = durableObjectStore({
    transactionSync: (act) => act(),
    kv: {
      get: (key) => rows.get(key),
      put: (key, state) => rows.set(key, state),
      delete: (key) => rows.delete(key),
    },
    getAlarm: async () => alarms.at(-1) ?? null,
    setAlarm: async (at) => {
      alarms.push(at)
    },
  })
  const limits = [HOUR, 24 * HOUR].map((windowMs) => fixedWindow.compile({ limit: 5, windowMs }))
  const policies = limits.map(({ algorithm, windowMs }) => {
    return { name: `fixed-window:${windowMs}:default`, algorithm }
  })
  const ledger = withVerbs(store.open(policies, 'sluice'))
  const charges = limits.map((limit) => ({ key: 'client', limit, cost: 1 }))
  for (const hours of [0, 1, 16]) {
    time.mockReturnValue(NOW + hours * HOUR)
    await ledger.consume(charges)
  }
  expect(alarms).toEqual([16, 40].map((hours) => NOW + hours * HOUR + 600_000))
  expect(rows.size).toBe(2)
  await ledger.reset('client')
  expect(rows.size).toBe(0)
})
