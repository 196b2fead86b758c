import type { Answer, StoreMode } from '../stores/store.ts'
import type { Decision } from './decision.ts'
import type { HeldSlots } from './held-slots.ts'

declare global {
  /** TypeScript has them since 5.2. */
  interface SymbolConstructor {
    readonly dispose: unique symbol
    readonly asyncDispose: unique symbol
  }
}

/**
 * A decision about slots. Those that it has taken are held, and renewed by this process, until they
 * are given back.
 */
export interface Acquisition<M extends StoreMode = StoreMode> extends Decision {
  /**
   * Gives the slots back. Further calls, and one after a refusal, do nothing. Never rejects: what the
   * store does not take back is no longer renewed, and so free after `hold`.
   */
  release(): Answer<M, void>
  /** Does what `release` does, for `using`. */
  [Symbol.dispose](): void
  /** Does what `release` does, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** @param held undefined if the request was refused */
export function toAcquisition(
  decision: Decision,
  mode: StoreMode,
  held: ReturnType<HeldSlots['add']> | undefined,
): Acquisition {
  const release = () => held?.release() ?? (mode === 'async' ? Promise.resolve() : undefined)
  return {
    ...decision,
    release,
    [Symbol.dispose]: () => void release(),
    [Symbol.asyncDispose]: async () => release(),
  }
}
