import { describe, expect, it } from '@jest/globals'
import { createLimiter, memoryStore } from '@sluice/core'
import { ALGORITHM_NAMES } from '@sluice/core/algorithms'
import fc from 'fast-check'
import { Clients } from '../../log/clients.ts'
import { LogEntry } from '../../log/log-entry.ts'
import { unmasked } from '../../log/mask.ts'
import { Replay } from '../replay.ts'
import { prepare } from '../replay-options.ts'
import type { RunTally } from '../statistics/run-tally.ts'
import { SharedWindow } from '../statistics/shared-window.ts'
import { HttpRun } from './http-run.ts'
import { LedgerRun } from './ledger-run.ts'
import { NumberedStore } from './numbered-store.ts'
import type { Run } from './run.ts'

interface Arrival {
  readonly step: number
  readonly client: number
  readonly cost: number
}

const arrivals = fc.array(
  fc.record({
    step: fc.integer({ min: 0, max: 700 }),
    client: fc.integer({ min: 0, max: 4 }),
    cost: fc.integer({ min: 0, max: 4 }),
  }),
  { minLength: 1, maxLength: 250 },
)

const WINDOW = { limit: 7, window: 3000 } as const

/** Plays the arrivals and gives all that was counted. */
async function play(
  given: readonly Arrival[],
  make: (clients: Clients, demand: SharedWindow) => Run,
) {
  const clients = new Clients()
  const demand = new SharedWindow(WINDOW.window, 1)
  const run = make(clients, demand)
  const plan = { runs: [run], demands: [demand], whole: run instanceof HttpRun, notes: [] }
  const replay = new Replay(plan, clients)
  let time = 1_795_269_630_000
  for (const { step, client, cost } of given) {
    time += step
    const entry = new LogEntry()
    entry.ip = `192.0.2.${client}`
    Object.assign(entry, { time, cost, client: clients.number(entry.ip) })
    replay.take(entry)
  }
  await replay.finish()
  return countsOf(run.tally, clients.count)
}

function countsOf(tally: RunTally, clients: number) {
  const [policy] = tally.policies
  return {
    admitted: tally.admitted,
    refused: tally.refused,
    peakKeys: tally.peakKeys,
    timeline: [tally.admittedTimeline, tally.refusedTimeline],
    most: policy?.most,
    peaks: Array.from({ length: clients }, (_, client) => policy?.peak(client)),
    refusals: Array.from({ length: clients }, (_, client) => [
      tally.refusals.count(client),
      tally.refusals.longestOf(client),
    ]),
  }
}

describe.each(ALGORITHM_NAMES)('%s', (algorithm) => {
  const options = { ...WINDOW, algorithm }

  it('gives the same result through the store alone and through the limiters of the middleware', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, async (given) => {
        const short = await play(given, (_, demand) => new LedgerRun('run', options, demand))
        const whole = await play(given, (clients, demand) => {
          const { options: prepared } = prepare({ ...options, cost: ({ cost }) => cost })
          const routeOf = () => undefined
          return new HttpRun({
            name: 'run',
            options: prepared,
            clients,
            mask: unmasked,
            demandFor: () => demand,
            routeOf,
          })
        })
        expect(short).toEqual(whole)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a leaky bucket', () => {
  it('has released all admitted requests by the end of the log', async () => {
    const options = { limit: 2, window: 1000, algorithm: 'leaky-bucket' as const }
    const given = [0, 0, 0].map((step) => ({ step, client: 0, cost: 1 }))
    const { most } = await play(given, (_, demand) => new LedgerRun('run', options, demand))
    expect(most).toMatchObject({ units: 2, atMs: 1_795_269_630_500 })
  })
})

describe('NumberedStore', () => {
  it('decides like the memory store of the core, with several policies', () => {
    fc.assert(
      fc.property(arrivals, (given) => {
        let now = 1_795_269_630_000
        const clock = () => now
        const policies = ALGORITHM_NAMES.map((algorithm, i) => ({
          name: algorithm,
          limit: 4 + i,
          window: 1000 * (1 + i),
          algorithm,
        }))
        const numbered = new NumberedStore(clock, (key) => Number(key))
        const memory = memoryStore({ clock })
        const one = createLimiter({ store: numbered, policies })
        const other = createLimiter({ store: memory, policies })
        for (const { step, client, cost } of given) {
          now += step
          expect(one.consume(`${client}`, { cost })).toEqual(other.consume(`${client}`, { cost }))
        }
        memory.close()
      }),
      { numRuns: 100 },
    )
  })
})
