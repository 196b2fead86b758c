import type { ExitCode } from '../command/exit-code.ts'
import { type ConnectFlags, connect } from './connect.ts'
import type { Connection } from './connection.ts'

/** Runs a command on the store that the flags name, and closes what it has opened. */
export async function onStore(
  run: (connection: Connection) => Promise<ExitCode>,
  flags: ConnectFlags,
): Promise<ExitCode> {
  const connection = await connect(flags)
  try {
    return await run(connection)
  } finally {
    connection.close()
  }
}
