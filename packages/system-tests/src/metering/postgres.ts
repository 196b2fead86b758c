import type { MeterCount, MeterRecord } from '@sluice/meter'
import type { Pool } from 'pg'

export const TABLE = `
  create table usage (
    id text primary key,
    key text not null,
    policy text not null,
    route text not null default '',
    window_ends_at timestamptz not null,
    units bigint not null
  )`

export function toPostgres(pool: Pool) {
  // #region
  async function send(batch: readonly Omit<MeterRecord, 'unit' | 'at'>[]) {
    await pool.query(
      `insert into usage (id, key, policy, route, window_ends_at, units)
       select id, key, policy, coalesce(route, ''), to_timestamp("windowEndsAt" / 1000.0), units
       from jsonb_to_recordset($1)
         as r(id text, key text, policy text, route text, "windowEndsAt" bigint, units bigint)
       on conflict (id) do nothing`,
      [JSON.stringify(batch)],
    )
  }
  // #endregion
  return send
}

/** Charges what processes that died had not sent. */
export function toReconcile(pool: Pool, send: ReturnType<typeof toPostgres>) {
  // #region
  async function reconcile(counts: AsyncIterable<MeterCount>) {
    for await (const { key, policy, route = '', units, windowEndsAt } of counts) {
      const { rows } = await pool.query(
        `select coalesce(sum(units), 0) as sent from usage
         where key = $1 and policy = $2 and route = $3 and window_ends_at = to_timestamp($4 / 1000.0)`,
        [key, policy, route, windowEndsAt],
      )
      const missing = units - Number(rows[0].sent)
      const id = `missing ${key} ${policy} ${route} ${windowEndsAt}`
      if (missing > 0) await send([{ id, key, policy, route, units: missing, windowEndsAt }])
    }
  }
  // #endregion
  return reconcile
}
