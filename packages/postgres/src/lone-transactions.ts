import { StoreError } from '@sluice/core'
import { ContendedKeys, type Decide, type StateChange } from '@sluice/transactional'
import { type Remembered, RememberedStates } from './remembered-states.ts'

/** A decision on a remembered state is made for a time so much earlier than the expected one, ms, */
const EARLY_MS = 1
/** and must be written within so many ms after that. */
const SPAN_MS = 10
/** The part of a longer way to the server that is believed: most are longer by chance. */
const LONGER = 1 / 16
/** The most keys of a transaction without a lock: of more of them, one would too often be wrong. */
const MAX_KEYS = 16
/** Any time, ms. */
const ALWAYS = { from: 0, until: 1e15 }
/** serialization_failure: the user's transactions are stricter than this needs. */
const NOT_SERIALIZABLE = '40001'

/** The new state of a key, if it still has one. */
export interface Write {
  readonly key: string
  /** The state that it must have, in hex; undefined: none. */
  readonly found: string | undefined
  /** Undefined: the key is not changed. */
  readonly change: StateChange | undefined
}

/** When something is written: between two times of the server, ms. */
export interface Span {
  readonly from: number
  readonly until: number
}

/** What was read: states in hex, and the server's time then, ms, with its fraction. */
interface Read {
  readonly states: readonly (string | undefined)[]
  readonly time: number
}

/** Statements about a few keys, each of which is a round trip and a transaction. */
export interface RoundTrips {
  /** The states in the order of the keys. */
  read(keys: readonly string[]): Promise<Read>
  /** Reads any number of keys, within so many ms. */
  readAll(keys: readonly string[], ms: number): Promise<Read>
  /**
   * Writes the changes of a decision at `now`, all of them or none.
   *
   * @param writes in the order of the keys
   * @param ms how long it may wait for others
   * @returns the server's time, ms, with its fraction; undefined: nothing was written
   */
  write(writes: readonly Write[], now: number, on: Span, ms: number): Promise<number | undefined>
  /** Writes as `write` does, then reads the keys. */
  writeOrRead(
    writes: readonly Write[],
    now: number,
    on: Span,
    ms: number,
  ): Promise<Read & { readonly isWritten: boolean }>
}

/** Borrows a connection for so long, ms. */
type Borrow = <T>(ms: number, work: (trips: RoundTrips) => Promise<T>) => Promise<T>

/**
 * Transactions of a few keys, without a lock between two round trips. The first one writes what was decided on the
 * states that this process remembers, if the keys still have them. Otherwise one round trip reads the states, and
 * another writes if the keys still have those. If they do not, others change a key all the time: for a
 * while the keys must be locked.
 *
 * A decision on remembered states is made for the time that this process expects of the server, less 1 ms,
 * and written only if it is no earlier and at most 10 ms later there. What needs the exact time, as a refusal
 * does, is decided on what is read.
 */
export class LoneTransactions {
  readonly #use: Borrow
  readonly #clock: (() => number) | undefined
  readonly #remembered = new RememberedStates()
  readonly #contended = new ContendedKeys()
  /** The server's time minus `performance.now()` when a statement was sent, ms. */
  #ahead: number | undefined
  /** Unlike what is locked, a single statement may wait for the table as long as somebody alters that. */
  #isAvailable = true

  /** @param clock the injected clock */
  constructor(use: Borrow, clock: (() => number) | undefined) {
    this.#use = use
    this.#clock = clock
  }

  /** As `TransactionalBackend.transact`; undefined: nothing was written, and the keys must be locked. */
  async transact<T>(
    keys: readonly string[],
    decide: Decide<T>,
    ms: number,
  ): Promise<{ readonly value: T } | undefined> {
    if (
      !this.#isAvailable ||
      keys.length > MAX_KEYS ||
      keys.some((key) => this.#contended.has(key))
    )
      return undefined
    const work = (trips: RoundTrips) =>
      this.#attempt(trips, keys, decide, ms).catch(ifNotSerializable)
    try {
      const done = await this.#use(ms, work)
      if (done === undefined) for (const key of keys) this.#contended.add(key)
      return done
    } catch (error) {
      this.#isAvailable = false
      throw error
    }
  }

  /**
   * As `TransactionalBackend.transact`, for a client that can't lock: decides on what it reads, again and again, until
   * nobody else was faster.
   *
   * @throws StoreError if somebody always was
   */
  async swap<T>(keys: readonly string[], decide: Decide<T>, ms: number): Promise<T> {
    const until = performance.now() + ms
    const done = await this.#use(ms, async (trips) => {
      let { states, time } = await trips.readAll(keys, ms)
      while (performance.now() < until) {
        const now = this.#clock?.() ?? Math.floor(time)
        const { changes, value } = decide(states.map(bytesOf), now)
        const writes = writesOf(keys, states, changes)
        if (!writes.some(isChange)) return { value }
        const on = this.#clock ? ALWAYS : { from: now, until: now + ms }
        const done = await trips.writeOrRead(writes, now, on, ms).catch(ifNotSerializable)
        if (done?.isWritten) {
          const areShared = keys.map(() => true)
          this.#remember(writes, now, areShared)
          return { value }
        }
        ;({ states, time } = done ?? (await trips.readAll(keys, ms)))
      }
      return undefined
    })
    if (done === undefined)
      throw new StoreError({
        code: 'SLUICE_STORE_CONTENTION',
        operation: 'transact',
        problem: `others changed the keys again and again for ${ms} ms`,
        advice: 'Nothing was written. With a Pool of pg, keys are locked.',
      })
    this.#isAvailable = true
    return done.value
  }

  /** Learns the changes that a transaction which has locked its keys has written at `now`. */
  learn(changes: readonly StateChange[], now: number): void {
    this.#isAvailable = true
    for (const { key, state } of changes) this.#remembered.set(key, hexOf(state), now, false)
  }

  async #attempt<T>(
    trips: RoundTrips,
    keys: readonly string[],
    decide: Decide<T>,
    ms: number,
  ): Promise<{ readonly value: T } | undefined> {
    const guesses = keys.map((key) => this.#remembered.get(key))
    const guessed = await this.#guess(trips, keys, guesses, decide, ms)
    if (guessed !== undefined) return guessed
    const sentAt = performance.now()
    const { states, time } = await trips.read(keys)
    const isSame = (guess: Remembered | undefined, i: number) => guess?.state === states[i]
    // Only the time can have been wrong.
    if (guesses.every((guess, i) => guess?.isStale && isSame(guess, i))) this.#ahead = undefined
    this.#observe(time, sentAt)
    const now = this.#clock?.() ?? Math.floor(time)
    const areShared = guesses.map((guess, i) => guess?.isStale === true && !isSame(guess, i))
    for (const [i, key] of keys.entries())
      this.#remembered.set(key, states[i], now, areShared[i] === true)
    const { changes, value } = decide(states.map(bytesOf), now)
    const writes = writesOf(keys, states, changes)
    if (!writes.some(isChange)) return { value }
    if (!(await this.#write(trips, writes, now, { from: now, until: now + ms }, ms)))
      return undefined
    this.#remember(writes, now, areShared)
    return { value }
  }

  /** Decides on the remembered states; undefined: nothing was written. */
  async #guess<T>(
    trips: RoundTrips,
    keys: readonly string[],
    guesses: readonly (Remembered | undefined)[],
    decide: Decide<T>,
    ms: number,
  ): Promise<{ readonly value: T } | undefined> {
    const now = this.#expected(guesses)
    if (now === undefined) return undefined
    const states = guesses.map((guess) => guess?.state)
    const { changes, value, needsClock } = decide(states.map(bytesOf), now)
    const writes = writesOf(keys, states, changes)
    if (needsClock || !writes.some(isChange)) return undefined
    if (await this.#write(trips, writes, now, { from: now, until: now + SPAN_MS }, ms)) {
      this.#remember(writes, now)
      return { value }
    }
    for (const guess of guesses) if (guess !== undefined) guess.isStale = true
    return undefined
  }

  async #write(trips: RoundTrips, writes: readonly Write[], now: number, on: Span, ms: number) {
    const sentAt = performance.now()
    const time = await trips.write(writes, now, this.#clock ? ALWAYS : on, ms)
    if (time !== undefined) this.#observe(time, sentAt)
    return time !== undefined
  }

  /** Remembers changes written at `now`. @param areShared whether each of them is, see {@link Remembered.isStale} */
  #remember(writes: readonly Write[], now: number, areShared?: readonly boolean[]): void {
    for (const [i, { key, found, change }] of writes.entries()) {
      const state = change === undefined ? found : hexOf(change.state)
      this.#remembered.set(key, state, now, areShared?.[i] === true)
    }
  }

  /** @param time the server's, ms, after a statement was sent */
  #observe(time: number, sentAt: number): void {
    const longer = time - sentAt - (this.#ahead ?? Infinity)
    this.#ahead = longer > 0 ? (this.#ahead as number) + longer * LONGER : time - sentAt
  }

  /**
   * The server's time when it decides on these states, ms, rather too early than too late, but not before one of
   * them. Undefined: it is not known, or one of the states is not.
   */
  #expected(guesses: readonly (Remembered | undefined)[]): number | undefined {
    let at = 0
    for (const guess of guesses) {
      if (guess === undefined || guess.isStale) return undefined
      at = Math.max(at, guess.at)
    }
    if (this.#clock !== undefined) return this.#clock()
    if (this.#ahead === undefined) return undefined
    return Math.max(at, Math.floor(performance.now() + this.#ahead) - EARLY_MS)
  }
}

function ifNotSerializable(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== NOT_SERIALIZABLE) throw error
}

/** Returns the changes of a decision on these states. A key that is not there is not deleted. */
function writesOf(
  keys: readonly string[],
  states: readonly (string | undefined)[],
  changes: readonly StateChange[],
): Write[] {
  return keys.map((key, i) => {
    const found = states[i]
    const change = changes.find((each) => each.key === key)
    const isNothing = change?.state === undefined && found === undefined
    return { key, found, change: isNothing ? undefined : change }
  })
}

function isChange({ change }: Write): boolean {
  return change !== undefined
}

export function bytesOf(hex: string | null | undefined): Uint8Array | undefined {
  return hex ? Buffer.from(hex, 'hex') : undefined
}

export function hexOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
