import { warnOnce } from '../errors/warning.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { StoreLimiter } from './store-limiter.ts'

/** The methods that would throw what is wrong, though they return a promise on a remote store. */
const METHODS = [
  'consume',
  'takeTurn',
  'acquire',
  'peek',
  'settle',
  'reset',
  'block',
  'override',
  'grant',
] as const

/** The policies on a store, for keys. On a remote store, what is wrong rejects, since each method returns a promise. */
export function limiterOn(...given: ConstructorParameters<typeof StoreLimiter>): StoreLimiter {
  const limiter = new StoreLimiter(...given)
  if (limiter.store.mode === 'sync') return limiter
  for (const name of METHODS) {
    const method = limiter[name] as (...given: never[]) => MaybePromise<unknown>
    const wrapped = (...given: never[]) => rejecting(() => method.apply(limiter, given))
    Object.assign(limiter, { [name]: wrapped })
  }
  return limiter
}

/** On the promise of a decision: JavaScript, where no type says that it is none yet, may ask it. */
const UNAWAITED = {
  get(): undefined {
    warnOnce(
      'SLUICE_AWAIT_MISSING',
      'The promise of a decision was asked whether it is allowed, and says undefined: await is missing. Write ' +
        '(await limiter.consume(key)).allowed: on a remote store, every method returns a promise.',
    )
    return undefined
  },
}

function rejecting<T>(act: () => MaybePromise<T>): Promise<T> {
  try {
    return Object.defineProperty(act() as Promise<T>, 'allowed', UNAWAITED)
  } catch (error) {
    return Promise.reject(error)
  }
}
