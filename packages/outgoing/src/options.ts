import type { Duration, PolicyOptions } from '@sluice/core'
import {
  checkArray,
  checkFunction,
  checkInteger,
  checkKey,
  checkKnown,
  checkObject,
  checkOneOf,
  parseDuration,
  type StoreOptions,
} from '@sluice/core/internal'
import { DIALECTS, type Dialect } from './fields.ts'
import { OutgoingLimiter } from './outgoing-limiter.ts'

/** A request that waits to be sent. */
export interface OutgoingRequest {
  readonly url: string
  /** In upper case. */
  readonly method: string
  readonly headers: Headers
  /** The body as passed: text, bytes, a form or a stream. Do not read a stream. */
  readonly body: unknown
}

/** A limit that all processes keep together, so that the server does not have to refuse. */
export interface OutgoingPolicy extends Omit<PolicyOptions, 'name' | 'reserve' | 'anchor'> {
  /** Identifies the policy. Default: the unit. */
  name?: string | undefined
  /** Units of a request: an integer, or a function that returns one. Default: 1. */
  cost?: number | ((request: OutgoingRequest) => number) | undefined
  /**
   * Returns the real cost of a request when its response has ended; `undefined` keeps the estimate.
   * @param text the part of the response's body that was read; beyond 1 MB, its end
   */
  settle?: ((response: Response, text: string) => number | undefined) | undefined
}

/** How refused requests are retried. */
export interface RetryOptions {
  /** The most times that a request is sent. Integer, 1 … 10. Default: 3. */
  attempts?: number | undefined
  /**
   * Methods that may be retried. A request with an `Idempotency-Key` always may. Default: HTTP's
   * idempotent methods.
   */
  methods?: readonly string[] | undefined
}

export interface OutgoingOptions
  extends Pick<
    StoreOptions,
    'store' | 'prefix' | 'deadline' | 'onStoreError' | 'localShare' | 'maxWaiting'
  > {
  /** The name of the server whose limits apply. Default: the host of the URL. */
  key?: ((request: OutgoingRequest) => string) | undefined
  /** Limits that you know. Default: none, only the server's fields. */
  policies?: readonly OutgoingPolicy[] | undefined
  /** Which of the server's header fields to obey. Default: all known ones. */
  obey?: readonly Dialect[] | undefined
  /**
   * Requests of a key in flight at once, in all processes. Integer, 1 … 1,000. Default: any number.
   */
  concurrent?: number | undefined
  /** The longest total wait of a request, over all its attempts. Default: `'30s'`. */
  maxWait?: Duration | undefined
  retry?: RetryOptions | undefined
}

const NAMES =
  'store prefix deadline onStoreError localShare key policies obey concurrent maxWait maxWaiting retry'
const POLICY_NAMES = 'name limit window timeZone algorithm burst maxDelay unit alertAt'
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']

/** The checked options. */
export type Settings = ReturnType<typeof readSettings>

/** @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another */
export function readSettings(options: OutgoingOptions) {
  checkObject('options', options, 'the options of limitOutgoing')
  checkKnown('', options, NAMES.split(' '))
  const {
    key = hostOf,
    policies = [],
    obey = DIALECTS,
    concurrent,
    maxWait = '30s',
    retry = {},
    ...store
  } = options
  checkKnown('retry', checkObject('retry', retry, '{ attempts, methods }'), ['attempts', 'methods'])
  const { attempts = 3, methods = IDEMPOTENT } = retry
  if (concurrent !== undefined) checkInteger('concurrent', concurrent, 1, 1000)
  for (const [i, policy] of checkArray('policies', policies, 'an array of policies').entries())
    checkObject(`policies[${i}]`, policy, '{ limit, window }')
  const costs = policies.map(({ cost = 1 }, i) => checkCost(`policies[${i}].cost`, cost))
  const settle = policies.map(
    ({ settle }, i) =>
      settle && checkFunction(`policies[${i}].settle`, settle, '(response, text) => units'),
  )
  const keyOf = checkFunction('key', key, '(request) => text')
  return {
    limiter: new OutgoingLimiter(
      policies.map(toPolicy),
      POLICY_NAMES.split(' '),
      concurrent,
      store,
    ),
    keyOf: (request: OutgoingRequest) => checkKey(keyOf(request)),
    /** The units of a request, by policy. */
    costsOf: (request: OutgoingRequest) => costs.map((cost) => cost(request)),
    /** Returns the real cost of an answer, by policy; undefined if no policy asks. */
    settle,
    obey: new Set(
      checkArray('obey', obey, `an array of ${DIALECTS.join(', ')}`).map((each, i) =>
        checkOneOf(`obey[${i}]`, each, DIALECTS),
      ),
    ),
    maxWaitMs: parseDuration('maxWait', maxWait, 0),
    attempts: checkInteger('retry.attempts', attempts, 1, 10),
    methods: new Set(
      checkArray('retry.methods', methods, "an array such as ['GET', 'POST']").map((each, i) =>
        checkOneOf(`retry.methods[${i}]`, String(each).toUpperCase(), [
          ...IDEMPOTENT,
          'POST',
          'PATCH',
        ]),
      ),
    ),
  }
}

/** The host, without the dot of the root behind it. A URL of data has none. */
function hostOf({ url }: OutgoingRequest): string {
  const { host, protocol } = new URL(url)
  return host.replace(/\.(?=:|$)/, '') || protocol
}

function checkCost(option: string, cost: unknown): (request: OutgoingRequest) => number {
  const check = (units: unknown) => checkInteger(option, units, 0, Number.MAX_SAFE_INTEGER)
  if (typeof cost === 'function') return (request) => check(cost(request))
  const units = check(cost)
  return () => units
}

/** The policy as core has it. */
function toPolicy({ cost: _, settle: __, ...policy }: OutgoingPolicy): object {
  return { ...policy, name: policy.name ?? policy.unit ?? 'requests' }
}
