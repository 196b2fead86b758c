import { PendingCall } from '@sluice/core/store'

/** A call that others wait for. */
export class AwaitedCall extends PendingCall {
  /** Resolves when it is over, or was given up. */
  readonly over: Promise<void>
  /** Why it was given up. */
  failure: Error | undefined
  #end: () => void = () => {}

  constructor() {
    super()
    this.over = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** It is over, by a failure or without. */
  override giveUp(failure?: Error): void {
    this.failure = failure
    this.#end()
  }
}

/** The last call of each key that is not over. */
export class LastCalls {
  readonly #last = new Map<string, AwaitedCall>()

  has(key: string): boolean {
    return this.#last.has(key)
  }

  /** Adds a call behind those of its keys. @returns what resolves when each of these is over */
  add(call: AwaitedCall, keys: readonly string[]): Promise<void>[] {
    const last = this.#last
    const earlier = keys.flatMap((key) => last.get(key)?.over ?? [])
    for (const key of keys) last.set(key, call)
    void call.over.then(() => {
      for (const key of keys) if (last.get(key) === call) last.delete(key)
    })
    return earlier
  }
}
