import { afterTurn } from '#platform'
import { Deadline, PendingCall } from '../calls/deadline.ts'
import type { Change, Transaction, TransactionalBackend } from './transactional-backend.ts'

/** The most transactions in progress at the same time, each of which takes a connection. */
const MAX_UNDER_WAY = 4
/** The most keys of a transaction, so that none holds its locks for long. */
const MAX_KEYS = 512
/** The most calls that wait: about as many as the limiters of a process have on their way. */
const MAX_WAITING = 2000

type Transact = TransactionalBackend['transact']
type States = readonly (Uint8Array | undefined)[]
type Decide = (states: States, now: number) => Transaction<unknown>

/**
 * Makes calls share transactions, for a backend that takes several round trips for each: those of
 * the same turn of the event loop, and those that come while four transactions are in progress. A
 * call that is given up before its decision is not decided, and so charges nothing.
 *
 * @param transact begins a transaction for each call
 */
export function joinTransactions(transact: Transact): Transact {
  const calls = new JoinedTransactions(transact)
  return <T>(keys: readonly string[], decide: Decide, withinMs?: number) =>
    new Promise<T>((resolve, reject) => {
      calls.add(new Call(keys, decide, withinMs, resolve as (value: unknown) => void, reject))
    })
}

/** A call of `transact` that waits, or whose transaction is in progress. */
class Call extends PendingCall {
  readonly keys: readonly string[]
  readonly decide: Decide
  readonly withinMs: number | undefined
  /** Whether it was answered or given up. */
  isOver = false
  private readonly answers: readonly [(value: unknown) => void, (error: unknown) => void]

  constructor(
    keys: readonly string[],
    decide: Decide,
    withinMs: number | undefined,
    ...answers: [(value: unknown) => void, (error: unknown) => void]
  ) {
    super()
    this.keys = keys
    this.decide = decide
    this.withinMs = withinMs
    this.answers = answers
  }

  giveUp(error: Error): void {
    this.reject(error)
  }

  resolve(value: unknown): void {
    this.isOver = true
    this.answers[0](value)
  }

  reject(error: unknown): void {
    this.isOver = true
    this.answers[1](error)
  }
}

class JoinedTransactions {
  private readonly transact: Transact
  /** The deadlines by their length, ms. */
  private readonly deadlines = new Map<number, Deadline>()
  private waiting: Call[] = []
  private underWay = 0
  private isScheduled = false

  constructor(transact: Transact) {
    this.transact = transact
  }

  add(call: Call): void {
    if (this.waiting.length >= MAX_WAITING) this.dropGivenUp()
    if (this.waiting.length >= MAX_WAITING) {
      call.reject(new Error('too many calls wait for a transaction'))
      return
    }
    this.waiting.push(call)
    this.deadlineOf(call)?.start(call)
    if (this.isScheduled) return
    this.isScheduled = true
    afterTurn(() => {
      this.isScheduled = false
      this.start()
    })
  }

  private start(): void {
    this.dropGivenUp()
    while (this.underWay < MAX_UNDER_WAY && this.waiting.length > 0) {
      this.underWay += 1
      void this.run(this.take()).then(() => {
        this.underWay -= 1
        this.start()
      })
    }
  }

  private dropGivenUp(): void {
    if (this.waiting.some(({ isOver }) => isOver))
      this.waiting = this.waiting.filter(({ isOver }) => !isOver)
  }

  /** The calls of the next transaction: at least one. */
  private take(): Call[] {
    const keys = new Set<string>()
    let count = 0
    for (const call of this.waiting) {
      for (const key of call.keys) keys.add(key)
      if (count > 0 && keys.size > MAX_KEYS) break
      count += 1
    }
    return this.waiting.splice(0, count)
  }

  private async run(calls: readonly Call[]): Promise<void> {
    const keys = [...new Set(calls.flatMap((call) => call.keys))].sort()
    const decide = (states: States, now: number) =>
      decideCalls(calls, new Map(keys.map((key, i) => [key, states[i]])), now)
    try {
      const answers = await this.transact(keys, decide, longestOf(calls))
      for (const answer of answers) answer()
    } catch (error) {
      for (const call of calls) if (!call.isOver) call.reject(error)
    } finally {
      for (const call of calls) this.deadlineOf(call)?.end(call)
    }
  }

  private deadlineOf({ withinMs }: Call): Deadline | undefined {
    if (withinMs === undefined) return undefined
    const deadline = this.deadlines.get(withinMs) ?? new Deadline(withinMs)
    this.deadlines.set(withinMs, deadline)
    return deadline
  }
}

function longestOf(calls: readonly Call[]): number | undefined {
  const longest = Math.max(...calls.map(({ withinMs = Infinity }) => withinMs))
  return longest === Infinity ? undefined : longest
}

/**
 * Decides the calls one after the other, each on what those before it have left.
 *
 * @returns what answers each call, once the changes are written
 */
function decideCalls(
  calls: readonly Call[],
  states: Map<string, Uint8Array | undefined>,
  now: number,
): Transaction<(() => void)[]> {
  const changes = new Map<string, Change>()
  const answers = calls.flatMap((call) => {
    if (call.isOver) return []
    try {
      const own = call.keys.map((key) => states.get(key))
      const decided = call.decide(own, now)
      for (const change of decided.changes) {
        changes.set(change.key, change)
        states.set(change.key, change.state)
      }
      return () => !call.isOver && call.resolve(decided.value)
    } catch (error) {
      return () => !call.isOver && call.reject(error)
    }
  })
  return { changes: [...changes.values()], value: answers }
}
