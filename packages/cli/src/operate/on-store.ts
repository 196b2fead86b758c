import { SluiceError } from '@sluice/core'
import type { ExitCode } from '../terminal/exit-code.ts'
import { messageOf } from '../terminal/say.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { type ConnectFlags, connect } from './connect.ts'
import type { Connection } from './connection.ts'

/** The store can't be reached, or fails: exit code 4. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
}

/**
 * Runs a command on the store that the flags name, and closes what it has opened.
 *
 * @throws UsageError or SluiceError about what was typed, else StoreFailure
 */
export async function onStore(
  run: (connection: Connection) => Promise<ExitCode>,
  flags: ConnectFlags,
): Promise<ExitCode> {
  const connection = await connect(flags).catch(fail)
  try {
    return await run(connection).catch(fail)
  } finally {
    connection.close()
  }
}

function fail(error: unknown): never {
  const isOfSetup = error instanceof SluiceError && /^SLUICE_(REDIS|POSTGRES)_/.test(error.code)
  const isMistake = error instanceof UsageError || error instanceof SluiceError
  if (isMistake && !isOfSetup) throw error
  throw new StoreFailure(messageOf(error), { cause: error })
}
