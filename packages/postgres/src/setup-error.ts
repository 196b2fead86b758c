import { setupError } from '@sluice/core/store'

/** The failure in words, where it is a mistake in how PostgreSQL is set up; else as it is. */
export function toSetupError(error: unknown, create: readonly string[]): unknown {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  switch (code) {
    // undefined_table, invalid_schema_name
    case '42P01':
    case '3F000':
      return setupError(
        'SLUICE_POSTGRES_TABLE',
        'the table of the store',
        message,
        `Call await store.migrate() when you deploy, or run: ${create.join('; ')};`,
      )
    // insufficient_privilege
    case '42501':
      return setupError('SLUICE_POSTGRES_FORBIDDEN', 'a user who may use the table', message)
    // invalid_authorization_specification, invalid_password, invalid_catalog_name
    case '28000':
    case '28P01':
    case '3D000':
      return setupError('SLUICE_POSTGRES_AUTH', 'the credentials of the server', message)
    // read_only_sql_transaction; feature_not_supported: an UNLOGGED table on a replica
    case '25006':
    case '0A000':
      return setupError('SLUICE_POSTGRES_READONLY', 'a server that accepts writes', message)
    default:
      return error
  }
}
