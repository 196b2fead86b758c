import { Deadlines, TransactCall, type TransactionalBackend } from '@sluice/transactional'
import type { SqliteFile } from './sqlite-file.ts'
import type { Statements } from './table.ts'

/** The most calls that wait for the lock. */
const MAX_WAITING = 2000
/** How long a transaction may take that several calls share, ms: it blocks the event loop, and the others. */
const MAX_MS = 1
/** How many keys it has before that counts: a busy machine may stop this process in its midst. */
const MIN_KEYS = 64
/**
 * The share of the time that a limiter waits in which the lock is asked for. What the limiter then decides by itself
 * is no longer charged here.
 */
const ASKED = 0.9
/** How often the lock is asked for in each turn of the event loop; after that, every millisecond. */
const EACH_TURN = 3

type Transact = TransactionalBackend['transact']

/** A call that waits for the lock. */
class Call extends TransactCall {
  override giveUp(): void {
    super.giveUp(new Error('another process has the lock of the file'))
  }
}

/**
 * Runs transactions on a file, at once where nobody else has its lock. Otherwise the calls wait, while the
 * event loop goes on, and share the next transaction. After a stall of the event loop, the lock is asked for
 * before a call is given up: the timer of an attempt is older than what ends a call.
 */
export function transactionsOn(file: SqliteFile, clock: () => number): Transact {
  const deadlines = new Deadlines()
  /** If there are any, an attempt is scheduled. */
  let waiting: Call[] = []

  const attempt = (tries: number) => {
    if (waiting.some(isOver)) waiting = waiting.filter((call) => !isOver(call))
    if (waiting.length === 0) return
    try {
      const statements = file.lock()
      if (statements !== undefined) run(statements)
      else if (tries < EACH_TURN) setImmediate(attempt, tries + 1)
      else setTimeout(attempt, 1, tries)
    } catch (error) {
      for (const call of waiting.splice(0)) {
        end(call)
        call.reject(error)
      }
    }
  }

  const end = (call: Call) => {
    if (call.isPending) deadlines.of(call.withinMs).end(call)
  }

  /** Decides calls, one after the other, in the transaction that has begun. */
  const run = (statements: Statements) => {
    const calls: Call[] = []
    const answers: (() => void)[] = []
    try {
      // Only now: a process that had the lock before has an earlier time.
      const [now, until] = [clock(), performance.now() + MAX_MS]
      let keys = 0
      do {
        const call = waiting.shift() as Call
        end(call)
        calls.push(call)
        keys += call.keys.length
        answers.push(decideOn(statements, call, now))
      } while (waiting.length > 0 && (keys < MIN_KEYS || performance.now() < until))
      statements.commit.run()
      for (const answer of answers) answer()
    } catch (error) {
      const reason = file.failed(error)
      for (const { reject } of calls) reject(reason)
    }
    if (waiting.length > 0) setImmediate(attempt, 0)
  }

  return (keys, decide, withinMs = Infinity) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) throw new Error('too many calls wait for the file')
      const call = new Call([keys, decide, withinMs * ASKED], resolve, reject)
      waiting.push(call)
      if (call.withinMs < Infinity) deadlines.of(call.withinMs).start(call)
      if (waiting.length === 1) attempt(0)
    })
}

function isOver(call: Call): boolean {
  return call.isOver
}

/** Decides a call and writes its changes; returns a function that answers it once they are committed. */
function decideOn(statements: Statements, call: Call, now: number): () => void {
  const rows = call.keys.map((key) => statements.get.get(key) as { state: Uint8Array } | undefined)
  const states = rows.map((row) => row?.state)
  let decided: ReturnType<typeof call.decide>
  try {
    decided = call.decide(states, now)
  } catch (error) {
    return () => call.reject(error)
  }
  for (const { key, state, ttlMs } of decided.changes) {
    if (state === undefined) statements.remove.run(key)
    else statements.put.run(key, state, now + ttlMs)
  }
  return () => call.resolve(decided.value as never)
}
