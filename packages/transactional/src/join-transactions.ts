import { afterAsking } from '@sluice/core/internal-stores'
import { Deadlines } from '@sluice/core/store'
import { TransactCall } from './transact-call.ts'
import type { StateChange, TransactionalBackend } from './transactional-backend.ts'

/** How much is done at the same time. */
export interface JoinOptions {
  /** The most transactions in progress, each of which takes a connection. Default: 4 */
  readonly underWay?: number
  /**
   * The most keys of a transaction that calls with different keys share, so that none holds its locks for
   * long. 0: only calls that need no other keys share one. Default: 512
   */
  readonly keys?: number
}

/** The most calls that wait: about as many as the limiters of a process have on their way. */
const MAX_WAITING = 2000

type Transact = TransactionalBackend['transact']

/**
 * Makes calls share transactions, for a backend that takes a round trip or more for each: those of
 * the same turn of the event loop, and those that come while as many transactions are in progress as may be, or one
 * with the same key: the backend would make it wait for that, and it would take a connection meanwhile. A
 * call that is given up before its decision is not decided, and so charges nothing. Unlike `StoreCalls`,
 * it joins what waits: by the time a call begins, it shares its transaction.
 *
 * @param transact begins a transaction for each call
 */
export function joinTransactions(
  transact: Transact,
  { underWay: maxUnderWay = 4, keys: maxKeys = 512 }: JoinOptions = {},
): Transact {
  const deadlines = new Deadlines()
  let waiting: TransactCall[] = []
  /** The keys of the transactions in progress. */
  const busy = new Set<string>()
  let underWay = 0
  let isScheduled = false

  const dropOver = () => {
    if (waiting.some(({ isOver }) => isOver)) waiting = waiting.filter(({ isOver }) => !isOver)
  }

  const run = async (calls: readonly TransactCall[]) => {
    const keys = [...new Set(calls.flatMap((call) => call.keys))].sort()
    for (const key of keys) busy.add(key)
    const [{ withinMs }] = calls as [TransactCall]
    try {
      const answers = await transact(
        keys,
        (states, now) => decideCalls(calls, new Map(keys.map((key, i) => [key, states[i]])), now),
        withinMs === Infinity ? undefined : withinMs,
      )
      for (const answer of answers) answer()
    } catch (error) {
      for (const call of calls) call.reject(error)
    } finally {
      for (const key of keys) busy.delete(key)
      for (const call of calls) {
        call.isOver = true
        if (call.isPending) deadlines.of(call.withinMs).end(call)
      }
    }
  }

  const start = () => {
    dropOver()
    while (underWay < maxUnderWay) {
      const { next, others } = nextOf(waiting, busy, maxKeys)
      if (next.length === 0) return
      waiting = others
      underWay += 1
      void run(next).then(() => {
        underWay -= 1
        start()
      })
    }
  }

  const add = (call: TransactCall) => {
    if (waiting.length >= MAX_WAITING) dropOver()
    if (waiting.length >= MAX_WAITING) {
      call.reject(new Error('too many calls wait for a transaction'))
      return
    }
    waiting.push(call)
    if (call.withinMs < Infinity) deadlines.of(call.withinMs).start(call)
    if (isScheduled) return
    isScheduled = true
    afterAsking(() => {
      isScheduled = false
      start()
    })
  }

  return (...asked) =>
    new Promise((resolve, reject) => add(new TransactCall(asked, resolve, reject)))
}

/**
 * The calls that share the next transaction, in their order, and the others: those that need a busy key, or a
 * key of an earlier call that does, those that no longer fit in, and those that wait for another time: one that is
 * lost keeps its keys busy for so long.
 */
function nextOf(waiting: readonly TransactCall[], busy: ReadonlySet<string>, maxKeys: number) {
  const taken = new Set(busy)
  const keys = new Set<string>()
  const next: TransactCall[] = []
  const others: TransactCall[] = []
  for (const call of waiting) {
    const isAlike = next.length === 0 || call.withinMs === next[0]?.withinMs
    const more = call.keys.filter((key) => !keys.has(key))
    const hasRoom = next.length === 0 || more.length === 0 || keys.size + more.length <= maxKeys
    if (isAlike && hasRoom && !call.keys.some((key) => taken.has(key))) {
      for (const key of more) keys.add(key)
      next.push(call)
    } else {
      for (const key of call.keys) taken.add(key)
      others.push(call)
    }
  }
  return { next, others }
}

/**
 * Decides the calls one after the other, each on what those before it have left.
 *
 * @returns the changes, and what answers each call once they are written
 */
function decideCalls(
  calls: readonly TransactCall[],
  states: Map<string, Uint8Array | undefined>,
  now: number,
) {
  const changes = new Map<string, StateChange>()
  let needsClock = false
  const answers = calls.flatMap((call) => {
    if (call.isOver) return []
    try {
      const own = call.keys.map((key) => states.get(key))
      const decided = call.decide(own, now)
      for (const change of decided.changes) {
        changes.set(change.key, change)
        states.set(change.key, change.state)
      }
      if (decided.needsClock) needsClock = true
      return () => call.resolve(decided.value as never)
    } catch (error) {
      return () => call.reject(error)
    }
  })
  return { changes: [...changes.values()], value: answers, needsClock }
}
