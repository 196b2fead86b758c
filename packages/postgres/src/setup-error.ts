import { setupError } from '@sluice/transactional'
import { POSTGRES_ACTIONS } from './setup-actions.ts'

const INSUFFICIENT_PRIVILEGE = '42501'

/** @throws the failure in words, where it is a mistake in how PostgreSQL is set up; else as it is */
export function throwSetupError(error: unknown, create: readonly string[]): never {
  const { code, message } = Object(error) as { code?: unknown; message: string }
  switch (code) {
    case '42P01': // undefined_table
    case '3F000': // invalid_schema_name
    case '42883': // undefined_function
      throw setupError(
        POSTGRES_ACTIONS,
        'SLUICE_POSTGRES_TABLE',
        'the table of the store',
        message,
        `Call await store.migrate() when you deploy, or run: ${create.join('; ')};`,
      )
    case INSUFFICIENT_PRIVILEGE:
      throw setupError(
        POSTGRES_ACTIONS,
        'SLUICE_POSTGRES_FORBIDDEN',
        'a user who may use the table',
        message,
      )
    case '28000': // invalid_authorization_specification
    case '28P01': // invalid_password
    case '3D000': // invalid_catalog_name
      throw setupError(
        POSTGRES_ACTIONS,
        'SLUICE_POSTGRES_AUTH',
        'the credentials of the server',
        message,
      )
    case '25006': // read_only_sql_transaction
    case '0A000': // feature_not_supported: an UNLOGGED table on a replica
      throw setupError(
        POSTGRES_ACTIONS,
        'SLUICE_POSTGRES_READONLY',
        'a server that accepts writes',
        message,
      )
    default:
      throw error
  }
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
