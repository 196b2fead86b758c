// What somebody writes who builds on neither base: two methods, from what core publishes.

import * as runner from '@jest/globals'
import {
  applyChange,
  type BanKeyspace,
  type ChangedStates,
  type Charge,
  commitOne,
  decideAll,
  decodeState,
  encodeState,
  type Keyspaces,
  keepMsOf,
  type Ledger,
  type Raise,
  type Store,
} from '@sluice/core/store'
import { storeSuite } from './store-suite.ts'

type Rows = Map<string, { bytes: Uint8Array; until: number }>

function plainStore(clock: () => number): Store<'sync'> {
  const rows: Rows = new Map()
  return {
    mode: 'sync',
    clock,
    open: (keyspaces, prefix) => ledgerOf(keyspaces, prefix, rows, clock),
    close: () => rows.clear(),
  }
}

function ledgerOf(
  { policies, ban }: Keyspaces,
  prefix: string,
  rows: Rows,
  clock: () => number,
): Ledger<'sync'> {
  const keyspaces = [...policies, ...(ban === undefined ? [] : [ban])]
  const nameOf = (policy: number, key: string) => {
    const { prefix: own = prefix, name } = keyspaces[policy] as BanKeyspace
    return JSON.stringify([own, name, key])
  }
  const states: ChangedStates = {
    load(policy, key) {
      const row = rows.get(nameOf(policy, key))
      return decodeState(row !== undefined && row.until > clock() ? row.bytes : undefined)
    },
    keep(policy, key, state, keepMs) {
      const name = nameOf(policy, key)
      if (keepMs === 0) rows.delete(name)
      else rows.set(name, { bytes: encodeState(state), until: clock() + keepMs })
    },
  }
  const decideOne = (charges: readonly Charge[], isPeek: boolean) => {
    const now = clock()
    const all = ban
      ? [...charges, { ...(charges[0] as Charge), limit: ban.limit, cost: 0 }]
      : charges
    const loaded = all.map(({ key }, i) => states.load(i, key))
    const own = loaded.slice(0, charges.length)
    const banning = ban && { limit: ban.limit, state: loaded.at(-1)! }
    const admitted = decideAll(own, charges, now, banning, isPeek)
    const outcomes = own.map((state) => ({ ...state }))
    const banned = banning && { ...banning.state }
    for (const [i, charge] of all.entries()) {
      const state = loaded[i]!
      const isKept = !isPeek && commitOne(state, charge, now, admitted ? charge.cost : 0)
      if (isKept || (!isPeek && state.counted))
        states.keep(i, charge.key, state, Math.max(1, keepMsOf(state, charge.limit, now)))
    }
    return { admitted, at: now, source: 'store' as const, outcomes, ban: banned }
  }
  return {
    decide: (requests, isPeek = false) => requests.map((charges) => decideOne(charges, isPeek)),
    change(change, raised) {
      const raises: Raise[] = []
      const result = applyChange(change, states, keyspaces.length, clock(), raises)
      if (raised) for (const raise of raises) raised(raise)
      return result
    },
  }
}

storeSuite(runner, 'a store of two methods', { mode: 'sync', documents: false, create: plainStore })
