import type { SetupCode } from '../../errors/codes.ts'
import { setupError } from '../../errors/setup-error.ts'
import { SluiceError } from '../../errors/sluice-error.ts'

interface SetUp {
  readonly code: SetupCode
  readonly expected: string
  /** What Redis, or Valkey, says where it is so: bare, or wrapped by the script that met it. */
  readonly says: RegExp
  /** Whether a client of a whole cluster may hear it too, for a moment. */
  readonly passesInCluster?: boolean
}

/** Set-ups that never heal by themselves. */
const SET_UPS: readonly SetUp[] = [
  {
    says: /^NOPERM |ACL failure in script|The user executing the script can't /,
    code: 'SLUICE_REDIS_FORBIDDEN',
    expected: 'a Redis user whose ACL allows the script',
  },
  {
    // Of a client that has not logged in, Redis takes no command with more than ten arguments.
    says: /^(NOAUTH|WRONGPASS) |^ERR Protocol error: unauthenticated /,
    code: 'SLUICE_REDIS_AUTH',
    expected: 'the credentials of the Redis server',
  },
  {
    says: /^(MOVED \d|CROSSSLOT )/,
    passesInCluster: true,
    code: 'SLUICE_REDIS_CLUSTER',
    expected: 'a client of the whole Redis Cluster, not of one of its nodes',
  },
  {
    says: /^ERR unknown command .?eval|^ERR Could not find scripting engine/i,
    code: 'SLUICE_REDIS_NO_SCRIPTS',
    expected: 'a Redis server that runs Lua scripts',
  },
  {
    says: /\bREADONLY /,
    code: 'SLUICE_REDIS_READONLY',
    expected: 'a Redis master',
  },
]

/**
 * The failure in words, where it is a mistake in how Redis is set up; else as it is.
 *
 * @param isCluster whether the client is one of a whole cluster
 */
export function toSetupError(error: unknown, isCluster: boolean): unknown {
  const said = error instanceof Error ? error.message : ''
  const setUp = SET_UPS.find(({ says, passesInCluster }) => {
    return says.test(said) && !(isCluster && passesInCluster)
  })
  if (setUp === undefined) return error
  return setupError(setUp.code, setUp.expected, said)
}

/** Whether the failure, explained, is that the server is a read-only replica. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof SluiceError && error.code === 'SLUICE_REDIS_READONLY'
}
