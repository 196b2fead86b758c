import { Deadlines, PendingCall } from '@sluice/core/store'

/**
 * The most connections that the pool still owes after nobody waits for them any more. Each is given
 * back as soon as it comes.
 */
const MAX_ABANDONED = 4

/** A connection is closed after so many times its time: this process may be busy. */
const PATIENCE = 2

/** A pool of connections, which the application uses too. */
export interface ConnectionPool<C> {
  connect(): Promise<C>
  /** @param isBroken It must be closed: a transaction may be open on it, or a statement running. */
  release(connection: C, isBroken: boolean): void
}

/** Borrows connections, each for a limited time. */
export class Borrower<C> {
  readonly #pool: ConnectionPool<C>
  readonly #deadlines = new Deadlines()
  #abandoned = 0

  constructor(pool: ConnectionPool<C>) {
    this.#pool = pool
  }

  /**
   * Works with a connection, which then goes back to the pool. After a failure, or if it takes more
   * than twice that time, it is closed: the server rolls its transaction back.
   *
   * @throws what `work` throws, and if it takes too long
   */
  async use<T>(withinMs: number, work: (connection: C) => Promise<T>): Promise<T> {
    const deadline = this.#deadlines.of(PATIENCE * withinMs)
    const loan = new PendingCall()
    const late = new Promise<never>((_, reject) => {
      loan.giveUp = reject
    })
    late.catch(() => {})
    deadline.start(loan)
    try {
      const connection = await this.#connect(late)
      let isBroken = true
      try {
        const done = await Promise.race([work(connection), late])
        isBroken = false
        return done
      } finally {
        this.#pool.release(connection, isBroken)
      }
    } finally {
      deadline.end(loan)
    }
  }

  /** @param late rejects when the time has passed */
  async #connect(late: Promise<never>): Promise<C> {
    if (this.#abandoned >= MAX_ABANDONED) throw new Error('the pool has no free connection')
    const connecting = this.#pool.connect()
    try {
      return await Promise.race([connecting, late])
    } catch (error) {
      this.#abandoned += 1
      const gone = () => {
        this.#abandoned -= 1
      }
      connecting.then((connection) => this.#pool.release(connection, false)).then(gone, gone)
      throw error
    }
  }
}
