import { expiryOf, type StateChange } from '@sluice/transactional'
import { hexOf, type RoundTrips, type Write } from './lone-transactions.ts'
import { type Connection, type PostgresValue, type Result, send } from './pool.ts'
import { inlined, type ParameterStatement, type Statements } from './statements.ts'

/**
 * invalid_sql_statement_name and duplicate_prepared_statement: the connection that parsed the statement is not
 * the one that executes it. So it is behind PgBouncer in transaction mode, or somebody has sent DISCARD ALL.
 */
const NOT_KEPT = ['26000', '42P05']

/** The single statements of a store, on any connection. */
export function roundTripsOf(statements: Statements): (client: Connection) => RoundTrips {
  let isKept = true

  const run = async (
    client: Connection,
    { name, text }: ParameterStatement,
    values: PostgresValue[],
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

  const writeOne = (client: Connection, { key, found, change }: Write, ...on: On) => {
    const { state, expires } = written(change as StateChange, on[0])
    return run(client, statements.writeOne, [...on.slice(1), key, hex(found), state, expires])
  }

  const valuesOf = (writes: readonly Write[], ...on: On): PostgresValue[] => {
    const all = writes.map(({ change }) => change && written(change, on[0]))
    return [
      ...on.slice(1),
      writes.map(({ key }) => key),
      writes.map(({ found }) => hex(found)),
      all.map((each) => each?.state ?? null),
      all.map((each) => each?.expires ?? null),
    ]
  }

  return (client) => ({
    async read(keys) {
      const row = (await run(client, statements.read(keys.length), [...keys])) as (string | null)[]
      return { states: row.slice(1).map((each) => each ?? undefined), time: Number(row[0]) }
    },
    async readAll(keys, ms) {
      return readOf(keys, await send(client, statements.readAll(keys, ms)))
    },
    async write(writes, now, { from, until }, ms) {
      const [first, second] = writes as [Write, Write?]
      const isPut = second === undefined && first.change?.state !== undefined
      const row = isPut
        ? await writeOne(client, first, now, ms, from, until)
        : await run(client, statements.writeAll, valuesOf(writes, now, ms, from, until))
      const time = row?.[0] ?? undefined
      return time === undefined ? undefined : Number(time)
    },
    async writeOrRead(writes, now, { from, until }, ms) {
      const keys = writes.map(({ key }) => key)
      const [settings, ...read] = statements.readAll(keys, ms) as [string, ...string[]]
      const write = inlined(statements.writeAll.text, valuesOf(writes, now, ms, from, until))
      const results = await send(client, [settings, write, ...read])
      return { ...readOf(keys, results), isWritten: typeof results[1]?.rows[0]?.[0] === 'string' }
    },
  })
}

/** Returns what `Statements.readAll` has read, whose results are the last ones. */
function readOf(keys: readonly string[], results: readonly Result[]) {
  const states = new Map(results.at(-2)?.rows.map(([key, hex]) => [key, hex ?? undefined]))
  const time = Number(results.at(-1)?.rows[0]?.[0])
  return { states: keys.map((key) => states.get(key)), time }
}

/** When it was decided; how long it may wait; the first and the last moment at which it may be written. All ms. */
type On = [now: number, ms: number, from: number, until: number]

/** Returns the row of a change; without a state it deletes the row. */
function written({ state, ttlMs }: StateChange, now: number) {
  return { state: state === undefined ? null : hex(hexOf(state)), expires: expiryOf(now, ttlMs) }
}

function hex(state: string | undefined): string | null {
  return state === undefined ? null : `\\x${state}`
}
