/** A value, at once or by a promise. What is there at once is used at once: a promise costs as much as a decision. */
export type MaybePromise<T> = T | Promise<T>

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/**
 * `use(value)` when the value is there. What it waits for may be any thenable; what it gives is a
 * promise of ours.
 */
export function then<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>) {
  return (isPromise(value) ? Promise.resolve(value).then(use) : use(value)) as MaybePromise<U>
}
