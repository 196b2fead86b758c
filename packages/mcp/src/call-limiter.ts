import { type Decision, type EventOptions, SluiceError, type StoreOptions } from '@sluice/core'
import { ChargeLimiter, limitOfClient, textOf, warnOnce } from '@sluice/core/internal'
import type { CallPolicies, McpCall, McpKey } from './options.ts'

/** The policies of some calls, decided together. */
export class CallLimiter extends ChargeLimiter {
  readonly #keys: readonly McpKey[]

  /** @param store the store of another limiter. Default: that of the options */
  constructor(
    { policies, keys }: CallPolicies,
    options: StoreOptions & EventOptions,
    store = options.store,
  ) {
    super(policies, { ...options, store }, { onDecision: options.onDecision })
    this.#keys = keys
  }

  /** @throws SluiceError (a rejection) if a key is missing */
  async consume(call: McpCall): Promise<Decision> {
    const startedAt = performance.now()
    const keys = await keysOf(this.#keys, call)
    const charges = this.compiledPolicies.map((policy, i) => {
      const key = keys[i] as string
      return {
        key,
        limit: limitOfClient(policy, key, policy.limitFor()),
        cost: 1,
        claim: undefined,
      }
    })
    const decision = await this.decide(charges)
    this.report(decision, charges, performance.now() - startedAt)
    return decision
  }
}

/** Calls each function once. */
async function keysOf(keys: readonly McpKey[], call: McpCall): Promise<string[]> {
  const made = new Map<McpKey, Promise<string>>()
  for (const key of keys) if (!made.has(key)) made.set(key, keyOf(key, call))
  return Promise.all(keys.map((key) => made.get(key) as Promise<string>))
}

async function keyOf(key: McpKey, call: McpCall): Promise<string> {
  let given: unknown
  try {
    given = await key(call)
  } catch (error) {
    warnOnce(
      'SLUICE_REQUEST_FAILED',
      `The function key threw, so calls are refused: ${textOf(error)}`,
    )
    // Its message may hold what no client should see.
    throw Object.assign(wrongKey({ said: 'an error' }), { cause: error })
  }
  if (typeof given === 'string' && given !== '') return given
  throw wrongKey({ received: given })
}

function wrongKey(found: { received: unknown } | { said: string }): SluiceError {
  const expected = 'text of at least one character that identifies a client'
  const fix = 'Return the id of the client for every call. Without it, the call is refused.'
  return new SluiceError({ code: 'SLUICE_KEY', option: 'key', expected, fix, ...found })
}
