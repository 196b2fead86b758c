import { expect } from '@jest/globals'
import { memoryStore, type Store, type StoreResult } from '../../index.ts'
import { type ManualClock, manualClock } from '../../testing/index.ts'
import { outcomeOf } from './sole-key.ts'
import { START } from './trace.ts'

/** A remote store that decides on this clock. */
export type Open = (clock: ManualClock) => Store<'async'>

/** Uses a store, under a prefix of its own; resolves with all that the store says. */
export type Play = (store: Store, clock: ManualClock, prefix: string) => Promise<unknown[]>

let plays = 0

/**
 * In memory, a play happens in one turn of the event loop, so that nothing is swept meanwhile.
 * @throws if the store differs from memory in anything that it says
 */
export async function expectAlike(open: Open, play: Play): Promise<void> {
  plays += 1
  const prefix = `alike:${process.pid}:${plays}`
  const said = async (create: (clock: ManualClock) => Store) => {
    const clock = manualClock(START)
    const store = create(clock)
    const answers = await play(store, clock, prefix)
    store.close()
    return inJson(answers)
  }
  const expected = await said((clock) => memoryStore({ clock }))
  const other = await said(open)
  if (other !== expected) expect(JSON.parse(other)).toEqual(JSON.parse(expected))
}

function inJson(answers: unknown[]): string {
  return JSON.stringify(answers, (_, value) => (value === Infinity ? 'never' : value))
}

/** A copy of what a result says: a synchronous one is valid only until the next call. @throws if it is an error */
export function factsOf(result: StoreResult | Error | undefined): unknown {
  if (result instanceof Error || result === undefined) throw result
  const { admitted, at, outcomes } = result
  return { admitted, at, outcomes: outcomes.map(outcomeOf) }
}
