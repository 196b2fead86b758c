/** What is given can't be replayed: says which file, and what was expected. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
