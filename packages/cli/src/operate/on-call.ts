import { foreignKeyPrefix, SluiceError } from '@sluice/core/operator'
import type { ExitCode } from '@sluice/terminal/exit-code'
import { printable } from '@sluice/terminal/printable'
import { messageOf } from '@sluice/terminal/say'
import { UsageError } from '@sluice/terminal/usage-error'
import { connect } from './connect.ts'
import type { Connection } from './connection.ts'
import type { StoreFlags } from './flags.ts'
import { StoreFailure } from './store-failure.ts'

// Every command on a store needs these, and the small ones are here themselves: each further file takes a ms to load.
export { blockFor, limitTo } from './change.ts'
export { changeCommand } from './change-command.ts'
export { inspectCommand } from './inspect-command.ts'
export { policyCommand } from './policy/policy-command.ts'

/**
 * Runs a command on the store that the flags name, and closes its connections.
 *
 * @throws UsageError or SluiceError about what was typed, else StoreFailure
 */
export async function onStore(
  flags: StoreFlags,
  run: (connection: Connection) => Promise<ExitCode>,
): Promise<ExitCode> {
  const connection = await connect(flags).catch(fail)
  try {
    await checkPrefix(connection, flags.prefix)
    return await run(connection).catch(fail)
  } finally {
    connection.close()
  }
}

/**
 * Refuses a prefix with a part that the application's client puts before its keys: scans find such keys, and calls by
 * the names that limiters have written do not.
 */
async function checkPrefix({ store }: Connection, prefix: string): Promise<void> {
  const added = await foreignKeyPrefix(store, prefix).catch(fail)
  if (added === undefined) return
  const [shown, rest] = [added, prefix.slice(added.length)].map(printable)
  throw new UsageError(
    `--prefix: the application's client puts '${shown}' before its keys (keyPrefix). Name a file that exports that ` +
      `client, or one with the same keyPrefix: --client redis.js --prefix ${rest}`,
  )
}

function fail(error: unknown): never {
  const isOfSetup =
    error instanceof SluiceError && /^SLUICE_(REDIS|POSTGRES|SQLITE)_/.test(error.code)
  const isMistake = error instanceof UsageError || error instanceof SluiceError
  if (isMistake && !isOfSetup) throw error
  throw new StoreFailure(messageOf(error), { cause: error })
}
