import { setupError } from '@sluice/transactional'
import { POSTGRES_ACTIONS } from './setup-actions.ts'

const INSUFFICIENT_PRIVILEGE = '42501'

/** What must be there, by the code of its absence, and the server's errors that say so. */
const NEEDS: readonly [code: keyof typeof POSTGRES_ACTIONS, expected: string, errors: string[]][] =
  [
    // undefined_table, invalid_schema_name, undefined_function
    ['SLUICE_POSTGRES_TABLE', 'the table of the store', ['42P01', '3F000', '42883']],
    ['SLUICE_POSTGRES_FORBIDDEN', 'a user who may use the table', [INSUFFICIENT_PRIVILEGE]],
    // invalid_authorization_specification, invalid_password, invalid_catalog_name
    ['SLUICE_POSTGRES_AUTH', 'the credentials of the server', ['28000', '28P01', '3D000']],
    // read_only_sql_transaction, and feature_not_supported: an UNLOGGED table on a replica
    ['SLUICE_POSTGRES_READONLY', 'a server that accepts writes', ['25006', '0A000']],
  ]

/** @throws the failure in words, where it is a mistake in how PostgreSQL is set up; else as it is */
export function throwSetupError(error: unknown, create: readonly string[]): never {
  const { code, message } = Object(error) as { code: string; message: string }
  const need = NEEDS.find(([, , errors]) => errors.includes(code))
  if (need === undefined) throw error
  const [missing, expected] = need
  const fix = `Call await store.migrate() when you deploy, or run: ${create.join('; ')};`
  const isTable = missing === 'SLUICE_POSTGRES_TABLE'
  throw setupError(POSTGRES_ACTIONS, missing, expected, message, isTable ? fix : undefined)
}

/** @throws the same, for the statements that create the table */
export function throwMigrationError(error: unknown, create: readonly string[]): never {
  const { code, message } = Object(error) as { code?: unknown; message: string }
  if (code !== INSUFFICIENT_PRIVILEGE) throwSetupError(error, create)
  throw setupError(
    POSTGRES_ACTIONS,
    'SLUICE_POSTGRES_FORBIDDEN',
    'a user who may create the table, or the table',
    message,
    `Let a user who may create tables call migrate(), or run: ${create.join('; ')};`,
  )
}
