// What somebody writes who builds on neither base: two methods, from what core publishes.

import * as runner from '@jest/globals'
import {
  applyChange,
  type BanKeyspace,
  type ChangedStates,
  type Charge,
  type ChargeIncrease,
  commitOne,
  decideAll,
  decodeOwn,
  decodeState,
  encodeOwn,
  encodeState,
  type Keyspaces,
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
  { policies, ban }: Keyspaces,
  prefix: string,
  rows: Rows,
  clock: () => number,
): Ledger<'sync'> {
  const keyspaces = [...policies, ...(ban === undefined ? [] : [ban])]
  const count = { policies: policies.length, bans: ban !== undefined }
  const nameOf = (policy: number, key: string, inSpace = (name: string) => name) => {
    const { prefix: own = prefix, name } = keyspaces[policy] as BanKeyspace
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
      state.terms = policy < count.policies ? states.own(policy, key) : undefined
      return state
    },
    keep: (policy, key, state, keepMs) => write(nameOf(policy, key), encodeState(state), keepMs),
    own: (policy, key) => decodeOwn(read(nameOf(policy, key, ownKeyspace))),
    keepOwn: (policy, key, terms, keepMs) =>
      write(nameOf(policy, key, ownKeyspace), terms && encodeOwn(terms), keepMs),
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
    change(change, onIncrease) {
      const increases: ChargeIncrease[] = []
      const result = applyChange(change, states, count, clock(), increases)
      if (onIncrease) for (const increase of increases) onIncrease(increase)
      return result
    },
  }
}

storeSuite(runner, 'a store of two methods', { mode: 'sync', documents: false, create: plainStore })
