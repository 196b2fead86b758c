/** How to fix a file that can't be used as it is, as Markdown: messages and docs/errors.md say it. */
export const SQLITE_ACTIONS = {
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
