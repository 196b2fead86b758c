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
  readonly durationMs?: number
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
  for (const { step, client, cost, durationMs = 0 } of given) {
    time += step
    const entry = new LogEntry()
    entry.ip = `192.0.2.${client}`
    Object.assign(entry, { time, cost, durationMs, client: clients.number(entry.ip) })
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
    bans: [tally.bans, tally.clientsBanned],
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

/** A ban begins without anything admitted, and then a request costs nothing. */
const refusedThenFree = [4, 4, 4, 0].map((cost) => ({ step: 0, client: 0, cost }))

describe.each(ALGORITHM_NAMES)('%s', (algorithm) => {
  const options = { ...WINDOW, algorithm }

  it.each([
    ['without bans', undefined],
    ['with bans', { after: 3, within: 4000, for: [1000, 5000] }],
  ])(
    'gives the same result through the store alone and through the limiters of the middleware, %s',
    async (_name, ban) => {
      await fc.assert(
        fc.asyncProperty(arrivals, async (given) => {
          const short = await play(given, (_, demand) => new LedgerRun('run', options, demand, ban))
          const whole = await play(given, (clients, demand) => {
            const prepared = prepare({
              ...options,
              cost: ({ cost }) => cost,
              ...(ban && { ban }),
            })
            const run = new HttpRun({
              name: 'run',
              options: prepared,
              clients,
              mask: unmasked,
              demandFor: () => demand,
            })
            void run.begin()
            return run
          })
          expect(short).toEqual(whole)
        }),
        { numRuns: 40, examples: [[refusedThenFree]] },
      )
    },
  )
})

describe('a leaky bucket', () => {
  it('has released all admitted requests by the end of the log', async () => {
    const options = { limit: 2, window: 1000, algorithm: 'leaky-bucket' as const }
    const given = [0, 0, 0].map((step) => ({ step, client: 0, cost: 1 }))
    const { most } = await play(given, (_, demand) => new LedgerRun('run', options, demand))
    expect(most).toMatchObject({ units: 2, atMs: 1_795_269_630_500 })
  })
})

describe('requests in progress', () => {
  const lasting = fc.array(
    fc.record({
      step: fc.integer({ min: 0, max: 400 }),
      client: fc.integer({ min: 0, max: 2 }),
      cost: fc.constant(1),
      durationMs: fc.oneof(
        fc.constantFrom(0, 1, 400),
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 3_600_001, max: 4_000_000 }),
      ),
    }),
    { minLength: 1, maxLength: 120 },
  )

  /**
   * What the definition of `concurrent` says: it counts the client's admitted requests that have not ended
   * yet.
   */
  function byDefinition(given: readonly Arrival[], most: number) {
    const running: { client: number; endMs: number }[] = []
    let now = 0
    let peak = 0
    const admitted = given.filter(({ step, client, durationMs = 0 }) => {
      now += step
      const others = running.filter((each) => each.client === client && each.endMs > now).length
      if (others >= most) return false
      peak = Math.max(peak, others + 1)
      running.push({ client, endMs: now + durationMs })
      return true
    })
    return { admitted: admitted.length, refused: given.length - admitted.length, units: peak }
  }

  it('need a key while they are in progress, and no longer', async () => {
    const given = [0, 600_000, 600_000].map((step, client) => ({
      step,
      client,
      cost: 1,
      durationMs: client === 1 ? 900_000 : 1000,
    }))
    const options = { concurrent: 2, hold: '1h' } as const
    const { peakKeys } = await play(given, (_, demand) => new LedgerRun('run', options, demand))
    expect(peakKeys).toBe(2)
  })

  it('are admitted by the definition, through the store alone and through the middleware', async () => {
    // Each ends in the moment in which the next one begins.
    const inTurn = [0, 0, 400, 400].map((durationMs, i) => {
      return { step: i === 3 ? 400 : 0, client: 0, cost: 1, durationMs }
    })
    await fc.assert(
      fc.asyncProperty(lasting, async (given) => {
        const options = { concurrent: 2, hold: '1h' } as const
        const short = await play(given, (_, demand) => new LedgerRun('run', options, demand))
        const whole = await play(given, (clients, demand) => {
          const prepared = prepare({ concurrent: 2 })
          const run = new HttpRun({
            name: 'run',
            options: prepared,
            clients,
            mask: unmasked,
            demandFor: () => demand,
          })
          void run.begin()
          return run
        })
        const { admitted, refused, units } = byDefinition(given, 2)
        expect(short).toMatchObject({ admitted, refused, most: { units } })
        expect(whole).toMatchObject({ admitted, refused, most: { units } })
        expect(whole.peaks).toEqual(short.peaks)
        expect(whole.peakKeys).toBe(short.peakKeys)
      }),
      { numRuns: 60, examples: [[inTurn]] },
    )
  })
})

describe('a ban', () => {
  it('refuses everything for its time, and for longer the next time', async () => {
    const options = { limit: 1, window: '1s', algorithm: 'fixed-window' } as const
    const ban = { after: 2, within: '1h', for: ['1m', '10m'] } as const
    const seconds = [0, 0, 0, 30, 60, 60, 60, 300, 660]
    const given = seconds.map((second, i) => ({
      step: 1000 * (second - (seconds[i - 1] ?? 0)),
      client: 0,
      cost: 1,
    }))
    const counts = await play(given, (_, demand) => new LedgerRun('run', options, demand, ban))
    // At 0 the 2nd refusal bans for a minute, at 60 the next ones for ten.
    expect(counts).toMatchObject({ admitted: 3, refused: 6, bans: [2, 1] })
  })
})

describe('NumberedStore', () => {
  it.each([
    ['several policies', {}],
    ['several policies and bans', { ban: { after: 2, within: 3000, for: [500, 2000] } }],
  ] as const)('decides like the memory store of the core, with %s', (_name, more) => {
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
        const one = createLimiter({ store: numbered, policies, ...more })
        const other = createLimiter({ store: memory, policies, ...more })
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
