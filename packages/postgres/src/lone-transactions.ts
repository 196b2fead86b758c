import type { StateChange, Transaction } from '@sluice/core/store'
import { RememberedStates } from './remembered-states.ts'

/** A decision on a remembered state is made for a time so much earlier than the expected one, ms, */
const EARLY_MS = 1
/** and must be written within so many ms after that. */
const SPAN_MS = 10
/** The part of a longer way to the server that is believed: most are longer by chance. */
const LONGER = 1 / 16
/** A key that others change between two round trips is locked for so long, ms. */
const CONTENDED_MS = 1000
/** The most contended keys that are known. */
const MAX_CONTENDED = 1000
/** Any time, ms. */
const ALWAYS = { from: 0, until: 1e15 }
/** serialization_failure: the user's transactions are stricter than this needs. */
const NOT_SERIALIZABLE = '40001'

/** See `TransactionalBackend.transact`. */
export type Decide<T> = (states: readonly (Uint8Array | undefined)[], now: number) => Transaction<T>

/** When a change is written: if the key still has this state, between two times of the server, ms. */
export interface Condition {
  /** In hex; undefined: none. */
  readonly state: string | undefined
  readonly from: number
  readonly until: number
}

/** Statements about one key, each of which is a round trip and a transaction. */
export interface RoundTrips {
  /** The state in hex, and the server's time then, ms, with its fraction. */
  read(key: string): Promise<{ readonly state: string | undefined; readonly time: number }>
  /**
   * Writes a change that was decided at `now`.
   *
   * @param ms how long it may wait for others
   * @returns the server's time, ms, with its fraction; undefined: nothing was written
   */
  write(change: StateChange, now: number, on: Condition, ms: number): Promise<number | undefined>
}

/**
 * Transactions of a single key, without a lock. The first round trip writes what was decided on the state
 * that this process remembers, if the key still has it. Otherwise one round trip reads the state, and
 * another writes if the key still has that. If it has not, others change the key all the time: for a
 * while it must be locked.
 *
 * A decision on a remembered state is made for the time that this process expects of the server, less 1 ms,
 * and written only if it is no earlier and at most 10 ms later there. What needs the exact time, as a refusal
 * does, is decided on what is read.
 */
export class LoneTransactions {
  private readonly use: <T>(ms: number, work: (trips: RoundTrips) => Promise<T>) => Promise<T>
  private readonly clock: (() => number) | undefined
  private readonly remembered = new RememberedStates()
  /** Until when keys must be locked, by `performance.now()`. */
  private readonly contended = new Map<string, number>()
  /** The server's time minus `performance.now()` when a statement was sent, ms. */
  private ahead: number | undefined
  /** Unlike what is locked, a single statement may wait for the table as long as somebody alters that. */
  private isAvailable = true

  /**
   * @param use borrows a connection for so long, ms
   * @param clock the injected clock
   */
  constructor(use: LoneTransactions['use'], clock: (() => number) | undefined) {
    this.use = use
    this.clock = clock
  }

  /** As `TransactionalBackend.transact`; undefined: nothing was written, and the key must be locked. */
  async transact<T>(
    key: string,
    decide: Decide<T>,
    ms: number,
  ): Promise<{ readonly value: T } | undefined> {
    if (!this.isAvailable || this.isContended(key)) return undefined
    const work = async (trips: RoundTrips) => {
      try {
        return await this.attempt(trips, key, decide, ms)
      } catch (error) {
        if ((error as { code?: unknown }).code === NOT_SERIALIZABLE) return undefined
        throw error
      }
    }
    try {
      const done = await this.use(ms, work)
      if (done === undefined) this.setContended(key)
      return done
    } catch (error) {
      this.isAvailable = false
      throw error
    }
  }

  /** What a transaction that has locked its keys has written at `now`. */
  learn(changes: readonly StateChange[], now: number): void {
    this.isAvailable = true
    for (const { key, state } of changes) this.remembered.set(key, hexOf(state), now, false)
  }

  private async attempt<T>(trips: RoundTrips, key: string, decide: Decide<T>, ms: number) {
    const guess = this.remembered.get(key)
    const expected = this.expected(guess?.at)
    if (guess !== undefined && !guess.isStale && expected !== undefined) {
      const { changes, value, needsClock } = decide([bytesOf(guess.state)], expected)
      const [change] = changes
      if (change !== undefined && !needsClock) {
        const on = { state: guess.state, from: expected, until: expected + SPAN_MS }
        if (await this.write(trips, change, expected, on, ms)) {
          this.remembered.set(key, hexOf(change.state), expected, false)
          return { value }
        }
        guess.isStale = true
      }
    }
    const sentAt = performance.now()
    const { state, time } = await trips.read(key)
    // Only the time can have been wrong.
    if (guess?.isStale && guess.state === state) this.ahead = undefined
    this.observe(time, sentAt)
    const now = this.clock?.() ?? Math.floor(time)
    const { changes, value } = decide([bytesOf(state)], now)
    const [change] = changes
    const isShared = guess?.isStale === true && guess.state !== state
    this.remembered.set(key, state, now, isShared)
    if (change === undefined || (change.state ?? state) === undefined) return { value }
    if (!(await this.write(trips, change, now, { state, from: now, until: now + ms }, ms))) return
    this.remembered.set(key, hexOf(change.state), now, isShared)
    return { value }
  }

  private async write(
    trips: RoundTrips,
    change: StateChange,
    now: number,
    on: Condition,
    ms: number,
  ) {
    const sentAt = performance.now()
    const time = await trips.write(change, now, this.clock ? { ...on, ...ALWAYS } : on, ms)
    if (time !== undefined) this.observe(time, sentAt)
    return time !== undefined
  }

  /** @param time the server's, ms, after a statement was sent */
  private observe(time: number, sentAt: number): void {
    const longer = time - sentAt - (this.ahead ?? Infinity)
    this.ahead = longer > 0 ? (this.ahead as number) + longer * LONGER : time - sentAt
  }

  /** The server's time when it decides, ms, rather too early than too late, but not before `at`. */
  private expected(at = 0): number | undefined {
    if (this.clock !== undefined) return this.clock()
    if (this.ahead === undefined) return undefined
    return Math.max(at, Math.floor(performance.now() + this.ahead) - EARLY_MS)
  }

  private isContended(key: string): boolean {
    const until = this.contended.get(key)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.contended.delete(key)
    return false
  }

  private setContended(key: string): void {
    if (this.contended.size >= MAX_CONTENDED) this.contended.clear()
    this.contended.set(key, performance.now() + CONTENDED_MS)
  }
}

export function bytesOf(hex: string | null | undefined): Uint8Array | undefined {
  return hex ? Buffer.from(hex, 'hex') : undefined
}

function hexOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
