// What somebody writes who builds on neither base: two methods, from what core publishes.

import * as runner from '@jest/globals'
import {
  applyChange,
  type ChangedStates,
  type Charge,
  type ChargeIncrease,
  commitOne,
  decideAll,
  decodeOwn,
  decodeState,
  encodeOwn,
  encodeState,
  isOnRefusal,
  type Keyspace,
  keepMsOf,
  type Ledger,
  ownKeyspace,
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
  keyspaces: readonly Keyspace[],
  prefix: string,
  rows: Rows,
  clock: () => number,
): Ledger<'sync'> {
  const nameOf = (policy: number, key: string, inSpace = (name: string) => name) => {
    const { prefix: own = prefix, name } = keyspaces[policy] as Keyspace
    return JSON.stringify([own, inSpace(name), key])
  }
  const read = (name: string) => {
    const row = rows.get(name)
    return row !== undefined && row.until > clock() ? row.bytes : undefined
  }
  const write = (name: string, bytes: Uint8Array | undefined, keepMs: number) => {
    if (bytes === undefined || keepMs === 0) rows.delete(name)
    else rows.set(name, { bytes, until: clock() + keepMs })
  }
  const states: ChangedStates = {
    load(policy, key) {
      const state = decodeState(read(nameOf(policy, key)))
      state.terms = isOnRefusal(keyspaces[policy]!) ? undefined : states.own(policy, key)
      return state
    },
    keep: (policy, key, state, keepMs) => write(nameOf(policy, key), encodeState(state), keepMs),
    own: (policy, key) => decodeOwn(read(nameOf(policy, key, ownKeyspace))),
    keepOwn: (policy, key, terms, keepMs) =>
      write(nameOf(policy, key, ownKeyspace), terms && encodeOwn(terms), keepMs),
  }
  const decideOne = (charges: readonly Charge[], isPeek: boolean) => {
    const now = clock()
    const loaded = charges.map(({ key }, i) => states.load(i, key))
    const admitted = decideAll(loaded, charges, now, isPeek)
    const outcomes = loaded.map((state) => ({ ...state }))
    for (const [i, charge] of charges.entries()) {
      const state = loaded[i]!
      if (!isPeek && commitOne(state, charge, now, admitted ? charge.cost : 0))
        states.keep(i, charge.key, state, Math.max(1, keepMsOf(state, charge.limit, now)))
    }
    return { admitted, at: now, source: 'store' as const, outcomes }
  }
  return {
    decide: (requests, isPeek = false) => requests.map((charges) => decideOne(charges, isPeek)),
    change(change, onIncrease) {
      const increases: ChargeIncrease[] = []
      const result = applyChange(change, states, keyspaces, clock(), increases)
      if (onIncrease) for (const increase of increases) onIncrease(increase)
      return result
    },
  }
}

storeSuite(runner, 'a store of two methods', { mode: 'sync', documents: false, create: plainStore })
