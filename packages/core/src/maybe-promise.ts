/** A value or a promise of it. A value is used synchronously: a promise costs as much as a decision. */
export type MaybePromise<T> = T | Promise<T>

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/**
 * `use(value)`, once the value is available. It accepts any thenable, and returns a native
 * promise.
 */
export function then<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>) {
  return (isPromise(value) ? Promise.resolve(value).then(use) : use(value)) as MaybePromise<U>
}
