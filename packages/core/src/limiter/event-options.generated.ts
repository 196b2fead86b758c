// Generated from options/table.ts by "npm run generate". Do not edit.
import type { Decision } from './decision.ts'

/** How a limiter tells what it does. Without a framework there is no request. */
export interface EventOptions<Request = void> {
  /**
   * Identifies the limiter in events and metrics. Text, 1 to 128 printable ASCII characters.
   * Default: none.
   */
  name?: string | undefined
  /**
   * Called with every decision, for logs and metrics; of `createLimiter` with those of `consume`
   * and `acquire`, without a request. Default: none.
   */
  onDecision?: ((decision: Decision, request: Request, key: string) => void) | undefined
  /**
   * With a secret, the events of refusals and bans have `keyHash`: an HMAC-SHA-256 of the client's
   * key, in base64url. Text of at least 16 characters. Default: none.
   */
  keySecret?: string | undefined
}
