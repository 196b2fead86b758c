import { SluiceError } from '@sluice/core'
import type { ConnectionPool } from '@sluice/transactional'
import type { Connection, Query } from './pool.ts'
import { inlined } from './statements.ts'

/** The members of a client of postgres.js 3 that the store needs. */
export interface PostgresJsClient {
  unsafe(query: string): { raw(): PromiseLike<unknown> }
  readonly options: { readonly transform: { readonly row: { readonly from: unknown } } }
  readonly PostgresError: unknown
}

/** The most statements that may still be without an answer after nobody waits for them any more. */
const MAX_UNANSWERED = 4
/** After so long, ms, it is no longer expected: postgres.js forgets some statements if their connection breaks. */
const LOST_MS = 30_000

export function isPostgresJs(pool: unknown): pool is PostgresJsClient {
  return typeof pool === 'function' && 'unsafe' in pool && 'PostgresError' in pool
}

/**
 * A client of postgres.js as the store borrows from it. What is lent is no connection, only the right to send
 * statements, each of which is a transaction: `begin` and `reserve` of postgres.js 3.4 end the process if the server
 * closes their connection, or send the statements of one transaction in another.
 *
 * No option of the client has a say: there are no parameters that it would serialize, and columns are raw.
 *
 * @throws SluiceError if the client transforms rows, which are not raw even then
 */
export function postgresJsPool(client: PostgresJsClient): ConnectionPool<Loan> {
  if (client.options.transform.row.from !== undefined)
    throw new SluiceError({
      code: 'SLUICE_STORE_UNKNOWN',
      option: 'pool',
      expected: 'a client of postgres.js without transform.row',
      received: client,
      fix: 'Give the store a client of its own: postgres(url).',
    })
  /** When nobody waited for them any more, by `performance.now()`. */
  const unanswered = new Map<Loan, number>()
  return {
    async connect() {
      for (const [loan, since] of unanswered)
        if (performance.now() - since > LOST_MS) unanswered.delete(loan)
      if (unanswered.size < MAX_UNANSWERED) return new Loan(client)
      throw new Error('postgres.js has not answered earlier statements yet')
    },
    release(loan, isBroken) {
      loan.isOver = true
      if (!isBroken) return
      unanswered.set(loan, performance.now())
      const answered = () => unanswered.delete(loan)
      loan.answer.then(answered, answered)
    },
  }
}

class Loan implements Connection {
  readonly #client: PostgresJsClient
  /** Settles when the last statement is answered. */
  answer: Promise<unknown> = Promise.resolve()
  isOver = false

  constructor(client: PostgresJsClient) {
    this.#client = client
  }

  query(query: Query): Promise<unknown> {
    this.answer = this.#send(query)
    return this.answer
  }

  async #send({ text, values = [] }: Query): Promise<unknown> {
    if (this.isOver) throw new Error('nobody waits for it any more')
    const answer = (await this.#client.unsafe(inlined(text, values)).raw()) as Raw | Raw[]
    return isOne(answer) ? resultOf(answer) : answer.map(resultOf)
  }
}

/** The rows of one statement. */
type Raw = (Uint8Array | null)[][] & { readonly command: string }

function isOne(answer: Raw | Raw[]): answer is Raw {
  return 'command' in answer
}

function resultOf(raw: Raw) {
  return { rows: raw.map((row) => row.map((column) => column && `${column}`)) }
}
