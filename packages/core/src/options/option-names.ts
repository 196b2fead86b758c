import type { Option, Options } from './option.ts'
import { OPTIONS } from './table.ts'

const policies = { ...OPTIONS.policy, ...OPTIONS.concurrency }
const policy = namesOf(policies)
const onlyPolicy = namesOf(policies, ({ onlyInPolicies }: Option) => !onlyInPolicies)
const limiter = [
  ...onlyPolicy,
  ...namesOf(OPTIONS.policies),
  ...namesOf(OPTIONS.store),
  ...namesOf(OPTIONS.events),
]
const http = { ...OPTIONS.requestPolicy, ...OPTIONS.http }
const isPerRoute = ({ perRoute }: Option) => perRoute !== false

/** The options that can be set in each place. */
export const OPTION_NAMES = {
  /** The options of `createLimiter`. */
  limiter,
  /** The options of an entry of its `policies`. */
  policy,
  /** The options of a single policy, which stand in place of `policies`. */
  onlyPolicy,
  /** The options of every adapter's `rateLimit`. */
  http: [...limiter, ...namesOf(http)],
  /** The options of an entry of an adapter's `policies`. */
  httpPolicy: [...policy, ...namesOf(http, ({ inPolicies }) => inPolicies !== undefined)],
  /** The options of an entry for a route. */
  route: [
    ...onlyPolicy,
    ...namesOf(OPTIONS.policies),
    ...namesOf(OPTIONS.store, isPerRoute),
    ...namesOf(OPTIONS.events),
    ...namesOf(http, isPerRoute),
  ],
  /** The options of every adapter's `shedLoad`. */
  overload: [
    ...namesOf(OPTIONS.overload),
    ...(['key', 'user', 'trustProxy', 'ipv6Prefix', 'skip', 'name'] as const),
  ],
  memoryStore: namesOf(OPTIONS.memoryStore),
  redisStore: namesOf(OPTIONS.redisStore),
  postgresStore: namesOf(OPTIONS.postgresStore),
  mysqlStore: namesOf(OPTIONS.mysqlStore),
  dynamodbStore: namesOf(OPTIONS.dynamodbStore),
  sqliteStore: namesOf(OPTIONS.sqliteStore),
} as const satisfies Record<string, readonly string[]>

function namesOf<T extends Options>(table: T, has: (option: Option) => boolean = () => true) {
  const names = Object.keys(table) as (keyof T & string)[]
  return names.filter((name) => has(table[name] as Option))
}
