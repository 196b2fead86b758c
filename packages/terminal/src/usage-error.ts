/** The command was called in a way that can't work: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
