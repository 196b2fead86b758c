import type { PostgresClient, PostgresPool, Result } from './pool.ts'

/**
 * The most connections that the pool still owes after nobody waits for them any more. Each is given
 * back as soon as it comes.
 */
const MAX_ABANDONED = 4

/** A connection is closed after so many times the time that somebody waits for it: this process may be busy. */
const PATIENCE = 2

/** Sends statements in one round trip; the results of each. */
export type Query = (statements: readonly string[]) => Promise<readonly Result[]>

/** Pools whose 'error' events, of connections that break while idle, do not end the process. */
const guarded = new WeakSet<PostgresPool>()

/** Connections of the application's pool, each borrowed for a limited time. */
export class Connections {
  private readonly pool: PostgresPool
  private abandoned = 0

  constructor(pool: PostgresPool) {
    this.pool = pool
    if (guarded.has(pool)) return
    guarded.add(pool)
    pool.on('error', ignore)
  }

  /**
   * Works with a connection, which then goes back to the pool. After a failure, or if it takes more
   * than twice that time, it is closed: PostgreSQL rolls its transaction back.
   *
   * @throws what `work` throws, and if it takes too long
   */
  async use<T>(withinMs: number, work: (query: Query) => Promise<T>): Promise<T> {
    const time = new TimeLimit(PATIENCE * withinMs)
    try {
      const client = await this.connect(time)
      let failure: unknown = new Error('not finished')
      client.on('error', ignore)
      try {
        const done = await time.limit(work(queryOf(client)))
        failure = undefined
        return done
      } finally {
        client.release(failure !== undefined)
        if (failure === undefined) client.removeListener('error', ignore)
      }
    } finally {
      time.end()
    }
  }

  private async connect(time: TimeLimit): Promise<PostgresClient> {
    if (this.abandoned >= MAX_ABANDONED) throw new Error('the pool has no free connection')
    const connecting = this.pool.connect()
    try {
      return await time.limit(connecting)
    } catch (error) {
      this.abandoned += 1
      const gone = () => {
        this.abandoned -= 1
      }
      connecting.then((client) => client.release()).then(gone, gone)
      throw error
    }
  }
}

/** Rejects what takes longer. */
class TimeLimit {
  private readonly late: Promise<never>
  private readonly timer: NodeJS.Timeout

  constructor(ms: number) {
    let reject: (error: Error) => void
    this.late = new Promise((_, failed) => {
      reject = failed
    })
    this.late.catch(ignore)
    const error = () => reject(new Error(`no answer within ${ms} ms`))
    // Timers run before sockets are read: read first what has arrived meanwhile.
    this.timer = setTimeout(() => setImmediate(error), ms)
  }

  limit<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.late])
  }

  end(): void {
    clearTimeout(this.timer)
  }
}

function queryOf(client: PostgresClient): Query {
  return async (statements) => {
    const results = await client.query({ text: statements.join(';'), rowMode: 'array' })
    return (statements.length === 1 ? [results] : results) as readonly Result[]
  }
}

function ignore(): void {}
