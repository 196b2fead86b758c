// Generated from options/table.ts by "npm run generate". Do not edit.
import type { ThresholdEvent } from '../events.ts'
import type { Decision } from './decision.ts'

/** How a limiter reports what it does. Without a framework, there is no request. */
export interface EventOptions<Request = void> {
  /**
   * Identifies the limiter in events and metrics. Text, 1 to 128 printable ASCII characters.
   * Default: none.
   */
  name?: string | undefined
  /**
   * Called with every decision, for logs and metrics. With `createLimiter`, these are the decisions
   * of `consume`, `acquire` and `wait`, without a request. Default: none.
   */
  onDecision?: ((decision: Decision, request: Request, key: string) => void) | undefined
  /**
   * Called when a charge brings a key to a share that `alertAt` lists, with the event of
   * `sluice:threshold`. Default: none.
   */
  onThreshold?: ((event: ThresholdEvent) => void) | undefined
  /**
   * Adds `keyHash` to the events of refusals and bans: an HMAC-SHA-256 of the client's key with
   * this secret, in base64url. Text of at least 16 characters. Default: none.
   */
  keySecret?: string | undefined
}
