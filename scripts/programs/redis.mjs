// Finds a Redis server for the tests, which start it by themselves and against nothing else.

import { findExecutable } from './executable.mjs'

/** The path of a Redis or Valkey server. Ends the process if there is none. */
export const findRedis = () =>
  findExecutable({
    variable: 'REDIS_SERVER',
    names: ['redis-server', 'valkey-server'],
    advice: 'The tests need a Redis server: install redis-server (apt, dnf, brew install redis)',
  })
