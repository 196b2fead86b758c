/** A value or a promise of it. A value is used synchronously: a promise costs as much as a decision. */
export type MaybePromise<T> = T | Promise<T>

export function isPromise(value: unknown): value is Promise<unknown> {
  // Most values are text or undefined, which need no look at their properties.
  if (typeof value !== 'object' && typeof value !== 'function') return false
  return typeof (value as { then?: unknown } | null)?.then === 'function'
}

/**
 * `use(value)`, once the value is available. It accepts any thenable, and returns a native
 * promise.
 */
export function andThen<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>) {
  return (isPromise(value) ? Promise.resolve(value).then(use) : use(value)) as MaybePromise<U>
}

/**
 * `use(value)`, once the value is available, for what a function of this package returns. Its promises are
 * native ones: to look for `then` in objects of so many kinds takes longer. What every request passes writes out both
 * cases instead: `use` would be allocated for each of them.
 */
export function thenNative<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>) {
  return (value instanceof Promise ? value.then(use) : use(value)) as MaybePromise<U>
}

/** Awaits those that are promises. */
export function all(pending: readonly unknown[]): MaybePromise<void> {
  return pending.some(isPromise) ? Promise.all(pending).then(() => undefined) : undefined
}

/**
 * Calls a function whose failure stays here: `failed` gets the error that it throws, or rejects with. What it returns
 * never rejects.
 */
export function attempt(
  call: () => unknown,
  failed: (error: unknown) => void = ignore,
): MaybePromise<void> {
  try {
    const done = call()
    return isPromise(done) ? Promise.resolve(done).then(ignore, failed) : undefined
  } catch (error) {
    return failed(error)
  }
}

function ignore(): void {}
