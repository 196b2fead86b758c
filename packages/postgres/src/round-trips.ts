import { expiryOf } from '@sluice/core/store'
import type { RoundTrips } from './lone-transactions.ts'
import type { PostgresClient, Result } from './pool.ts'
import type { ParameterStatement, Statements } from './statements.ts'

/**
 * invalid_sql_statement_name and duplicate_prepared_statement: the connection that parsed the statement is not
 * the one that executes it. So it is behind PgBouncer in transaction mode, or somebody has sent DISCARD ALL.
 */
const NOT_KEPT = ['26000', '42P05']

/** The single statements of a store, on any connection. */
export function roundTripsOf(statements: Statements): (client: PostgresClient) => RoundTrips {
  let isKept = true

  const run = async (
    client: PostgresClient,
    { name, text }: ParameterStatement,
    values: (string | number | null)[],
  ) => {
    const send = (name?: string) => client.query({ name, text, values, rowMode: 'array' })
    const sent = isKept && name !== undefined ? send(name) : send()
    const result = await sent.catch((error) => {
      if (!NOT_KEPT.includes(error.code)) throw error
      // It was not executed.
      isKept = false
      return send()
    })
    return (result as Result).rows[0]
  }

  return (client) => ({
    async read(key) {
      const [state, time] = (await run(client, statements.readOne, [key])) as [
        string | null,
        string,
      ]
      return { state: state ?? undefined, time: Number(time) }
    },
    async write({ key, state, ttlMs }, now, on, ms) {
      const where = [ms, on.from, on.until, key, on.state === undefined ? null : `\\x${on.state}`]
      const row =
        state === undefined
          ? await run(client, statements.removeOne, where)
          : await run(client, statements.writeOne, [
              ...where,
              `\\x${Buffer.from(state).toString('hex')}`,
              expiryOf(now, ttlMs),
            ])
      const time = row?.[0] ?? undefined
      return time === undefined ? undefined : Number(time)
    },
  })
}
