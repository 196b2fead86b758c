import { findExecutable } from '../executables/index.ts'

/**
 * The server that the tests run: `$REDIS_SERVER`, else redis-server or valkey-server on the PATH.
 *
 * @throws Error with how to get one.
 */
export function redisBinary(env?: NodeJS.ProcessEnv): string {
  const advice = 'apt-get install redis-server, brew install redis'
  const names = ['redis-server', 'valkey-server']
  return findExecutable({ variable: 'REDIS_SERVER', names, advice }, env)
}
