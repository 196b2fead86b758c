const later = <T>(value: T) => new Promise<T>((resolve) => setImmediate(resolve, value))
/** A thenable that is no native promise, as query builders and older libraries return. */
const thenable = <T>(value: T) =>
  ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable is needed
    then(resolve: (value: T) => void) {
      setImmediate(resolve, value)
    },
  }) as unknown as Promise<T>

/** How a function of the options may return a value. */
export const WAYS: [string, <T>(value: T) => T | Promise<T>][] = [
  ['synchronous', (value) => value],
  ['by a promise', later],
  ['by a thenable', thenable],
]
