// Generated from options/table.ts by "npm run generate". Do not edit.
import type { ThresholdEvent } from '../events.ts'
import type { Decision } from './decision.ts'

/** How a limiter tells what it does. Without a framework there is no request. */
export interface EventOptions<Request = void> {
  /**
   * Identifies the limiter in events and metrics. Text, 1 to 128 printable ASCII characters.
   * Default: none.
   */
  name?: string | undefined
  /**
   * Called with every decision, for logs and metrics; of `createLimiter` with those of `consume`,
   * `acquire` and `wait`, without a request. Default: none.
   */
  onDecision?: ((decision: Decision, request: Request, key: string) => void) | undefined
  /**
   * Called when a charge has brought a key to a share of its limit that `alertAt` lists, with the
   * event that `sluice:threshold` publishes. Default: none.
   */
  onThreshold?: ((event: ThresholdEvent) => void) | undefined
  /**
   * With a secret, the events of refusals and bans have `keyHash`: an HMAC-SHA-256 of the client's
   * key, in base64url. Text of at least 16 characters. Default: none.
   */
  keySecret?: string | undefined
}
