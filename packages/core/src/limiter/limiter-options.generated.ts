// Generated from options/table.ts by "npm run generate". Do not edit.
import type { StoreMode } from '../stores/store.ts'
import type { EventOptions } from './event-options.generated.ts'
import type { PolicyOptions, StoreOptions } from './options.generated.ts'

/** The options of `createLimiter`: those of one policy, or several `policies` that must all admit. */
export interface LimiterOptions<M extends StoreMode = StoreMode> extends Omit<PolicyOptions, 'name' | 'dryRun'>, StoreOptions<M>, EventOptions {
  /**
   * Policies that are decided together: all must admit a request. If one refuses, none is charged.
   * Array of 1 to 32 policies. Default: one policy, from the options themselves.
   */
  policies?: readonly PolicyOptions[] | undefined
}
