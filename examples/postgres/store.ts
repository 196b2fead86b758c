import { postgresStore } from '@sluice/postgres'
import { Pool } from 'pg'

/** The pool, which the application uses too: the store borrows at most four connections at once. */
export const pool = new Pool({
  connectionString: process.env.DATABASE_URL ?? 'postgres://postgres@localhost/postgres',
  connectionTimeoutMillis: 1000,
})

export const store = postgresStore(pool)
