/** How to fix a PostgreSQL that can't be used as it is set up, as Markdown: messages and docs/errors.md say it. */
export const POSTGRES_ACTIONS = {
  SLUICE_POSTGRES_TABLE:
    'Call `await store.migrate()` when you deploy and after an upgrade, or run the statements of [the table](postgresql.md#the-table). The option `schema` says where it is.',
  SLUICE_POSTGRES_FORBIDDEN:
    'To use the table, permit all of this, with your own names: `GRANT USAGE ON SCHEMA public TO <name>; GRANT SELECT, INSERT, UPDATE, DELETE ON public.sluice_states TO <name>`. To create it, call `migrate()` as a user who may create tables in the schema.',
  SLUICE_POSTGRES_AUTH: 'Give the pool the user, password and database of the server.',
  SLUICE_POSTGRES_READONLY:
    'Connect to the primary by an address that follows it, and give the pool `maxLifetimeSeconds`.',
}
