import { readFileSync } from 'node:fs'

/** A user and group by their numbers. */
export interface Ids {
  readonly uid: number
  readonly gid: number
}

/** The user that the server runs as: PostgreSQL refuses root. Undefined: this process's own user. */
export function unprivileged(): Ids | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL refuses root, and there is neither a user postgres nor nobody')
}
