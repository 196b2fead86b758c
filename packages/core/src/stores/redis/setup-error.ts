import { setupError } from '../../errors/setup-error.ts'
import { SluiceError } from '../../errors/sluice-error.ts'
import { REDIS_ACTIONS } from './setup-actions.ts'

/** Set-ups that never heal by themselves. */
const SET_UPS: readonly {
  readonly code: keyof typeof REDIS_ACTIONS
  readonly expected: string
  /** Matches the message of Redis, or Valkey: bare, or wrapped by the script that met it. */
  readonly pattern: RegExp
  /** Whether a client of a whole cluster may get it too, for a moment. */
  readonly passesInCluster?: boolean
}[] = [
  {
    pattern: /^NOPERM |ACL failure in script|The user executing the script can't /,
    code: 'SLUICE_REDIS_FORBIDDEN',
    expected: 'a Redis user whose ACL allows the script',
  },
  {
    // Redis refuses commands with more than ten arguments of a client that has not logged in. Upstash sends
    // `Unauthorized`.
    pattern: /^(NOAUTH|WRONGPASS) |^Unauthorized\b|^ERR Protocol error: unauthenticated /,
    code: 'SLUICE_REDIS_AUTH',
    expected: 'the credentials of the Redis server',
  },
  {
    pattern: /^(MOVED \d|CROSSSLOT )/,
    passesInCluster: true,
    code: 'SLUICE_REDIS_CLUSTER',
    expected: 'a client of the whole Redis Cluster, not of one of its nodes',
  },
  {
    pattern: /^ERR unknown command .?eval|^ERR Could not find scripting engine/i,
    code: 'SLUICE_REDIS_NO_SCRIPTS',
    expected: 'a Redis server that runs Lua scripts',
  },
  {
    pattern: /\bREADONLY /,
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
  const message = error instanceof Error ? error.message : ''
  const setUp = SET_UPS.find(({ pattern, passesInCluster }) => {
    return pattern.test(message) && !(isCluster && passesInCluster)
  })
  if (setUp === undefined) return error
  return setupError(REDIS_ACTIONS, setUp.code, setUp.expected, message)
}

/** Whether the failure, explained, is that the server is a read-only replica. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof SluiceError && error.code === 'SLUICE_REDIS_READONLY'
}

/** The codes of errors that valkey-glide has other names for. */
const CODES = new Map([
  ['ResponseError', 'ERR'],
  ['NoScriptError', 'NOSCRIPT'],
  ['ReadOnly', 'READONLY'],
  ['PermissionDenied', 'NOPERM'],
  ['Moved', 'MOVED'],
  ['CrossSlot', 'CROSSSLOT'],
])

/** `NOSCRIPT No…` arrives as `An error was signalled by the server: - NoScriptError: No…`. */
const REWORDED = /^(?:An error was signalled by the server: - )?(\w+): /

/** The error as the other clients give it. An error of the client itself stays as it is. */
export function inServersWords(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = REWORDED.exec(error.message)?.[1]
  if (code === undefined) return error
  const said = `${CODES.get(code) ?? code} `
  return new Error(
    error.message.replace(REWORDED, () => said),
    { cause: error },
  )
}

/** @upstash/redis puts this around the server's message. Behind it is the whole command, with its keys. */
const AROUND = /^Command failed: |, command was: \[[\s\S]*/g

/** An error of @upstash/redis as the other clients give it. */
export function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const message = error.message.replace(AROUND, '')
  return message === error.message ? error : new Error(message)
}
