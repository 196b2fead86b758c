import { describe, expect, test } from '@jest/globals'
import type { Charge, StoreResult } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import { withVerbs } from '../../testing/ledger-verbs.ts'
import type { Algorithm, Outcome } from '../algorithm.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import type { Open } from './alike.ts'
import { recorded } from './recorded.ts'
import { outcomeOf } from './sole-key.ts'
import type { Trace } from './trace.ts'

/** How a request reaches a store. */
export interface Form {
  /** Policies that refuse nothing, before and after the one of the trace. */
  readonly before: number
  readonly after: number
  /** The cost of a request that is decided in the same call, before this one. */
  readonly beside?: (cost: number) => number
}

/** A limit that refuses nothing. */
const endless = fixedWindow.compile({ limit: 1e12, windowMs: 1000 })

/** Registers the tests that a remote store follows the traces of every algorithm, in each form. */
export function traceSuite(name: string, open: Open, forms: Record<string, Form>): void {
  describe.each(recorded)(`$algorithm.name in ${name} follows the traces`, (each) => {
    describe.each(Object.entries(forms))('%s', (form, how) => {
      test.each(each.traces)('$name', async (trace) => {
        const expected = trace.steps.map((step) => step.expect)
        expect(await replay(open, each.algorithm, trace, how, form)).toEqual(expected)
      })
    })
  })
}

/** Replays a trace on the store, and returns its results in the form of the expectations. */
async function replay(open: Open, algorithm: Algorithm, trace: Trace, form: Form, label: string) {
  const { name, params, from } = trace
  const clock = manualClock(from)
  const others = (count: number) => Array.from({ length: count }, () => endless)
  const limits = [...others(form.before), algorithm.compile(params), ...others(form.after)]
  const keyspaces = limits.map((limit, i) => {
    return { name: `${i} ${label} ${algorithm.name}: ${name}`, algorithm: limit.algorithm, limit }
  })
  const store = open(clock)
  const ledger = withVerbs(store.open(keyspaces, 'traces'))
  /** The charges of a request: of the trace's policy, beside others that cost nothing. */
  const charges = (key: string, cost: number, claimed?: number): Charge[] =>
    limits.map((limit, i) => {
      if (i !== form.before) return { key, limit, cost: 0 }
      return { key, limit, cost, claim: claimed === undefined ? undefined : [claimed] }
    })
  const said: Partial<Outcome>[] = []
  for (const step of trace.steps) {
    clock.set(from + step.at)
    if ('cost' in step) {
      const { cost, slot } = step
      const requests = [charges('one', cost, slot)]
      if (form.beside) requests.unshift(charges('two', form.beside(cost)))
      const results = await ledger.decide(requests)
      said.push(shownOf(results.at(-1) as StoreResult, form.before))
    } else {
      const corrected = charges('one', step.delta, step.slot ?? step.remaining)
      await ledger.settle(corrected, from + step.chargedAt)
      const { remaining, resetMs } = shownOf(await ledger.peek(charges('one', 0)), form.before)
      said.push({ remaining, resetMs })
    }
  }
  store.close()
  return said
}

function shownOf({ admitted, outcomes }: StoreResult, place: number): Outcome {
  const outcome = outcomeOf(outcomes[place]!)
  expect(outcome.admitted).toBe(admitted)
  return outcome
}
