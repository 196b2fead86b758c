/** How to fix a MySQL or MariaDB that can't be used as it is set up, as Markdown: messages and docs/errors.md say it. */
export const MYSQL_ACTIONS = {
  SLUICE_MYSQL_TABLE:
    'Call `await store.migrate()` when you deploy, or run the statement of [the table](stores.md#mysql-and-mariadb).',
  SLUICE_MYSQL_FORBIDDEN:
    'Permit all of this, with your own names: `GRANT SELECT, INSERT, UPDATE, DELETE ON <database>.sluice_states TO <user>`.',
  SLUICE_MYSQL_AUTH: 'Give the pool the user, password and database of the server.',
  SLUICE_MYSQL_READONLY: 'Connect to the primary by an address that follows it.',
  SLUICE_MYSQL_VERSION: 'Use MySQL 8.0 or MariaDB 10.6, or later.',
}
