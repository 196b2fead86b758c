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
