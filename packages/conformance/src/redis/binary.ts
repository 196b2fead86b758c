import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['redis-server', 'valkey-server']

/**
 * The server that the tests run: `$REDIS_SERVER`, else redis-server or valkey-server on the PATH.
 *
 * @throws Error with how to get one. Tests that need Redis fail without it; they are never skipped.
 */
export function redisBinary(env: NodeJS.ProcessEnv = process.env): string {
  const named = env.REDIS_SERVER
  if (named) {
    if (isExecutable(named)) return named
    throw new Error(`REDIS_SERVER is ${named}, which is not an executable file`)
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  const binary = found.find(isExecutable)
  if (binary) return binary
  throw new Error(
    'no redis-server or valkey-server on the PATH: install one (apt-get install redis-server, ' +
      'brew install redis), or set REDIS_SERVER to its path',
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
