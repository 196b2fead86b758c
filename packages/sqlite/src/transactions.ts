import type { TransactionalBackend } from '@sluice/core/store'
import type { SqliteFile } from './sqlite-file.ts'
import type { Statements } from './table.ts'

/** The most calls that wait for the lock. */
const MAX_WAITING = 2000
/** How long a transaction may take that several calls share, ms: it blocks the event loop, and the others. */
const MAX_MS = 1
/** How often the lock is asked for in each turn of the event loop; after that, every millisecond. */
const EACH_TURN = 3

type Transact = TransactionalBackend['transact']

/** A call that waits for the lock, until a time of `performance.now()`. */
interface Call {
  readonly keys: readonly string[]
  readonly decide: Parameters<Transact>[1]
  readonly until: number
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs transactions on a file, at once where nobody else has its lock. Otherwise the calls wait, while the
 * event loop goes on, and share the next transaction.
 */
export function transactionsOn(file: SqliteFile, clock: () => number): Transact {
  /** If there are any, an attempt is scheduled. */
  let waiting: Call[] = []

  const attempt = (tries: number) => {
    const time = performance.now()
    const late = waiting.filter(({ until }) => until <= time)
    if (late.length > 0) waiting = waiting.filter(({ until }) => until > time)
    for (const { reject } of late) reject(new Error('another process has the lock of the file'))
    if (waiting.length === 0) return
    try {
      const statements = file.lock()
      if (statements !== undefined) run(statements)
      else if (tries < EACH_TURN) setImmediate(attempt, tries + 1)
      else setTimeout(attempt, 1, tries)
    } catch (error) {
      for (const { reject } of waiting.splice(0)) reject(error)
    }
  }

  /** Decides calls, one after the other, in the transaction that has begun. */
  const run = (statements: Statements) => {
    const calls: Call[] = []
    const answers: (() => void)[] = []
    try {
      // Only now: a process that had the lock before has an earlier time.
      const [now, until] = [clock(), performance.now() + MAX_MS]
      do {
        const call = waiting.shift() as Call
        calls.push(call)
        answers.push(decideOn(statements, call, now))
      } while (waiting.length > 0 && performance.now() < until)
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
      waiting.push({ keys, decide, until: performance.now() + withinMs, resolve, reject })
      if (waiting.length === 1) attempt(0)
    })
}

/** Decides a call and writes its changes; returns what answers it once they are committed. */
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
