import { type Mistake, SluiceError } from '../../errors/sluice-error.ts'

interface SetUp extends Pick<Mistake, 'code' | 'expected' | 'fix'> {
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
    fix:
      'Beside what the client itself sends, it needs all of this (for sluice put your prefix): ' +
      'ACL SETUSER <name> ~sluice:* ' +
      '+eval +evalsha +time +mget +exists +set +getrange +setrange +pexpire +del.',
  },
  {
    says: /^(NOAUTH|WRONGPASS) /,
    code: 'SLUICE_REDIS_AUTH',
    expected: 'the credentials of the Redis server',
    fix: "Give the client the server's username and password.",
  },
  {
    says: /^(MOVED \d|CROSSSLOT )/,
    passesInCluster: true,
    code: 'SLUICE_REDIS_CLUSTER',
    expected: 'a client of the whole Redis Cluster, not of one of its nodes',
    fix:
      'Use new Cluster([{ host, port }]) of ioredis, or createCluster({ rootNodes: [{ url }] }) ' +
      'of redis.',
  },
  {
    says: /^ERR unknown command .?eval|^ERR Could not find scripting engine/i,
    code: 'SLUICE_REDIS_NO_SCRIPTS',
    expected: 'a Redis server that runs Lua scripts',
    fix: 'Enable EVAL and EVALSHA on the server; for Valkey install its Lua module.',
  },
  {
    says: /\bREADONLY /,
    code: 'SLUICE_REDIS_READONLY',
    expected: 'a Redis master',
    fix:
      'Connect to the master, through Sentinel or an address that follows it, and after a ' +
      'failover anew: ioredis by the option reconnectOnError: ' +
      "(e) => (e.message.includes('READONLY') ? 1 : false), node-redis by " +
      'redisStore(client, { onReadOnly }).',
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
  const { code, expected, fix } = setUp
  return new SluiceError({ code, option: 'store', expected, received: said, fix })
}

/** Whether the failure, explained, is that the server is a read-only replica. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof SluiceError && error.code === 'SLUICE_REDIS_READONLY'
}
