import type { ValkeyGlideClient } from './client.ts'
import type { Connection } from './connection.ts'

/**
 * By plain commands: `invokeScript` takes scripts of the package only, and loads them with a
 * command of its own.
 */
export function overValkeyGlide(client: ValkeyGlideClient): Connection {
  const send = async (...command: string[]) => {
    try {
      return await client.customCommand(command)
    } catch (error) {
      throw inServersWords(error)
    }
  }
  return {
    isCluster: typeof client.invokeScriptWithRoute === 'function',
    evalsha: (sha, keys, args) => send('EVALSHA', sha, `${keys.length}`, ...keys, ...args),
    eval: (script, keys, args) => send('EVAL', script, `${keys.length}`, ...keys, ...args),
  }
}

/** What valkey-glide calls the codes of errors that it knows. */
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

/** The error as the other clients give it; one that no server has sent as it is. */
function inServersWords(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = REWORDED.exec(error.message)?.[1]
  if (code === undefined) return error
  const said = `${CODES.get(code) ?? code} `
  return new Error(
    error.message.replace(REWORDED, () => said),
    { cause: error },
  )
}
