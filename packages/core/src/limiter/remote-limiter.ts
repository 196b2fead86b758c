import { warnOnce } from '../errors/warning.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Store } from '../stores/store.ts'
import { StoreLimiter } from './store-limiter.ts'

/** The policies on a store, for keys. On a remote store, what is wrong rejects, since each method returns a promise. */
export function limiterOn(...given: ConstructorParameters<typeof StoreLimiter>): StoreLimiter {
  const [, { store }] = given
  const isSync = store === undefined || (store as Store | null)?.mode === 'sync'
  return isSync ? new StoreLimiter(...given) : new RemoteLimiter(...given)
}

class RemoteLimiter extends StoreLimiter {
  override consume(...given: Parameters<StoreLimiter['consume']>) {
    return rejecting(() => super.consume(...given))
  }
  override takeTurn(...given: Parameters<StoreLimiter['takeTurn']>) {
    return rejecting(() => super.takeTurn(...given))
  }
  override acquire(...given: Parameters<StoreLimiter['acquire']>) {
    return rejecting(() => super.acquire(...given))
  }
  override peek(...given: Parameters<StoreLimiter['peek']>) {
    return rejecting(() => super.peek(...given))
  }
  override settle(...given: Parameters<StoreLimiter['settle']>) {
    return rejecting(() => super.settle(...given))
  }
  override reset(...given: Parameters<StoreLimiter['reset']>) {
    return rejecting(() => super.reset(...given))
  }
  override block(...given: Parameters<StoreLimiter['block']>) {
    return rejecting(() => super.block(...given))
  }
  override override(...given: Parameters<StoreLimiter['override']>) {
    return rejecting(() => super.override(...given))
  }
  override grant(...given: Parameters<StoreLimiter['grant']>) {
    return rejecting(() => super.grant(...given))
  }
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
