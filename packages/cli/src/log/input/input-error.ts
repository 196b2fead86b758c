/** The input can't be replayed. The message says which file, and what was expected. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
