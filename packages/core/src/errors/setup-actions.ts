import type { SetupCode } from './codes.ts'

/** What to do about a store that can't work as it is set up, as Markdown: messages and docs/errors.md say it. */
export const SETUP_ACTIONS: Readonly<Record<SetupCode, string>> = {
  SLUICE_REDIS_NOT_CONNECTED:
    "Call `client.on('error', …)`, then `await client.connect()`, before the first request.",
  SLUICE_REDIS_AUTH: "Give the client the server's username and password.",
  SLUICE_REDIS_FORBIDDEN:
    'Permit all of this, in addition to the commands of the client itself, with your own prefix in place of sluice: `ACL SETUSER <name> ~sluice[.:]* +eval +evalsha +time +get +mget +set +getrange +setrange +pexpire +del`.',
  SLUICE_REDIS_CLUSTER:
    'Use `new Cluster([{ host, port }])` of ioredis, `createCluster({ rootNodes: [{ url }] })` of node-redis, or `GlideClusterClient.createClient({ addresses: [{ host, port }] })` of valkey-glide.',
  SLUICE_REDIS_NO_SCRIPTS:
    'Enable `EVAL` and `EVALSHA` on the server; for Valkey, install its Lua module.',
  SLUICE_REDIS_READONLY:
    "Connect to the master through Sentinel or an address that follows it, and reconnect after a failover: ioredis by `reconnectOnError: (e) => (e.message.includes('READONLY') ? 1 : false)`, the others by `redisStore(client, { onReadOnly })`.",
  SLUICE_POSTGRES_TABLE:
    'Call `await store.migrate()` when you deploy, or run the statements of [the table](../packages/postgres/README.md#the-table). The option `schema` says where it is.',
  SLUICE_POSTGRES_FORBIDDEN:
    'To use the table, permit all of this, with your own names: `GRANT USAGE ON SCHEMA public TO <name>; GRANT SELECT, INSERT, UPDATE, DELETE ON public.sluice_states TO <name>`. To create it, call `migrate()` as a user who may create tables in the schema.',
  SLUICE_POSTGRES_AUTH: 'Give the pool the user, password and database of the server.',
  SLUICE_POSTGRES_READONLY:
    'Connect to the primary by an address that follows it, and give the pool `maxLifetimeSeconds`.',
  SLUICE_SQLITE_MISSING:
    'Use a newer Node, or install better-sqlite3 and pass its class: `sqliteStore(path, { driver: Database })`.',
  SLUICE_SQLITE_FILE:
    'Create the folder, and permit the user of the process to write the file, its folder, and the files beside it that end with -wal and -shm.',
  SLUICE_SQLITE_FULL: 'Make room on the disk, or raise `maxBytes`.',
  SLUICE_SQLITE_CORRUPT:
    'Delete the file and those beside it that end with -wal and -shm, while no process uses them. Every quota is full then. `durable: true` prevents it after a loss of power.',
  SLUICE_SQLITE_VERSION:
    'Give the store a file of its own. One of another version of @sluice/sqlite: delete it while no process uses it.',
  SLUICE_SQLITE_NETWORK:
    'Put the file on a disk of this machine, such as /var/lib/app/limits.db. To share limits between machines, use Redis or PostgreSQL.',
}
