import { SluiceError } from '@sluice/core/operator'
import type { ExitCode } from '@sluice/terminal/exit-code'
import { messageOf } from '@sluice/terminal/say'
import { UsageError } from '@sluice/terminal/usage-error'
import { connect } from './connect.ts'
import type { Connection } from './connection.ts'
import type { StoreFlags } from './flags.ts'
import { StoreFailure } from './store-failure.ts'

// Every command on a store needs these, and the small ones are here themselves: each further file takes a ms to load.
export { blockFor, changeCommand, limitTo } from './change-command.ts'
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
    return await run(connection).catch(fail)
  } finally {
    connection.close()
  }
}

function fail(error: unknown): never {
  const isOfSetup =
    error instanceof SluiceError && /^SLUICE_(REDIS|POSTGRES|SQLITE)_/.test(error.code)
  const isMistake = error instanceof UsageError || error instanceof SluiceError
  if (isMistake && !isOfSetup) throw error
  throw new StoreFailure(messageOf(error), { cause: error })
}
