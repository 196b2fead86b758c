/** The store can't be reached, or fails: exit code 4. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
}
