import { expect, test } from '@jest/globals'
import { SluiceError } from '../../errors/sluice-error.ts'
import { toSetupError } from './setup-error.ts'

// What servers say that are not at hand for the tests with real ones.
test.each([
  [
    'Valkey without its Lua module',
    "ERR Could not find scripting engine 'lua'",
    'SLUICE_REDIS_NO_SCRIPTS',
  ],
  ['Redis before 7, in backquotes', 'ERR unknown command `EVALSHA`', 'SLUICE_REDIS_NO_SCRIPTS'],
  [
    'Redis before 7, from a script',
    "ERR Error running script (call to f_0): @user_script:70: -READONLY You can't write against a read only replica.",
    'SLUICE_REDIS_READONLY',
  ],
  [
    'Redis before 7, from a script',
    "ERR Error running script (call to f_0): @user_script:70: @user_script: 70: The user executing the script can't run this command or subcommand",
    'SLUICE_REDIS_FORBIDDEN',
  ],
  [
    'Redis from 7.2, from a script',
    "ERR ACL failure in script: User limiter has no permissions to run the 'time' command script: 8a2f, on @user_script:4.",
    'SLUICE_REDIS_FORBIDDEN',
  ],
])('%s: %s', (_, said, code) => {
  const failure = toSetupError(new Error(said), false) as SluiceError
  expect(failure).toBeInstanceOf(SluiceError)
  expect([failure.code, failure.received]).toEqual([code, said])
})

test.each(['MOVED 3999 127.0.0.1:6381', "CROSSSLOT Keys in request don't hash to the same slot"])(
  'to a client of one node, not to one of the cluster: %s',
  (said) => {
    const error = new Error(said)
    expect(toSetupError(error, false)).toMatchObject({
      code: 'SLUICE_REDIS_CLUSTER',
      received: said,
    })
    expect(toSetupError(error, true)).toBe(error)
  },
)

test.each([
  'LOADING Redis is loading the dataset in memory',
  'CLUSTERDOWN The cluster is down',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'MISCONF Redis is configured to save RDB snapshots',
  "ERR unknown command 'setrange'",
  'connect ECONNREFUSED 127.0.0.1:6379',
])('as it is: %s', (said) => {
  const error = new Error(said)
  expect(toSetupError(error, false)).toBe(error)
})
