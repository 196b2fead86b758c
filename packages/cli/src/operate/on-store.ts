import type { ExitCode } from '../command/exit-code.ts'
import { type ConnectFlags, type Connection, connect } from './connect.ts'

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
