// Codes are stable: they are never renamed or reused. docs/errors.md explains each of them.

/** The codes of a `SluiceError`. */
export type SluiceErrorCode =
  | 'SLUICE_OPTION_TYPE'
  | 'SLUICE_OPTION_RANGE'
  | 'SLUICE_OPTION_VALUE'
  | 'SLUICE_OPTION_UNKNOWN'
  | 'SLUICE_OPTION_CONFLICT'
  | 'SLUICE_STORE_UNKNOWN'
  | 'SLUICE_KEY'
  | 'SLUICE_HEADERS'
  | 'SLUICE_TRUST_PROXY'
  | 'SLUICE_CIDR'
  | 'SLUICE_NETWORKS_FULL'
  | 'SLUICE_SECRET'
  | 'SLUICE_ROUTE'
  | 'SLUICE_REQUEST'
  | SetupCode

/** The codes of a `SluiceError` about a store that can't work as it is set up. */
export type SetupCode =
  | 'SLUICE_REDIS_NOT_CONNECTED'
  | 'SLUICE_REDIS_AUTH'
  | 'SLUICE_REDIS_FORBIDDEN'
  | 'SLUICE_REDIS_CLUSTER'
  | 'SLUICE_REDIS_NO_SCRIPTS'
  | 'SLUICE_REDIS_READONLY'
  | 'SLUICE_POSTGRES_TABLE'
  | 'SLUICE_POSTGRES_FORBIDDEN'
  | 'SLUICE_POSTGRES_AUTH'
  | 'SLUICE_POSTGRES_READONLY'
  | 'SLUICE_SQLITE_MISSING'
  | 'SLUICE_SQLITE_FILE'
  | 'SLUICE_SQLITE_FULL'
  | 'SLUICE_SQLITE_CORRUPT'
  | 'SLUICE_SQLITE_VERSION'
  | 'SLUICE_SQLITE_NETWORK'

/** The codes of a `StoreError`. */
export type StoreErrorCode = 'SLUICE_STORE_UNAVAILABLE' | 'SLUICE_STORE_CONTENTION'

/** The codes of a `WaitError`. */
export type WaitErrorCode =
  | 'SLUICE_WAIT_TOO_LONG'
  | 'SLUICE_WAIT_NEVER'
  | 'SLUICE_WAIT_FULL'
  | 'SLUICE_WAIT_ABORTED'
  | 'SLUICE_WAIT_CLOSED'

/** The codes of a warning. */
export type WarningCode =
  | 'SLUICE_STORE_DOWN'
  | 'SLUICE_STORE_UP'
  | 'SLUICE_CLOCK_SKEW'
  | 'SLUICE_ON_READ_ONLY'
  | 'SLUICE_CLIENT_UNGUARDED'
  | 'SLUICE_REQUEST_FAILED'
  | 'SLUICE_ON_DECISION'
  | 'SLUICE_ON_THRESHOLD'
  | 'SLUICE_SETTLE'
  | 'SLUICE_MADE_PER_REQUEST'
  | 'SLUICE_WINDOW_SHORT'
  | 'SLUICE_CONTEXT_UNLIMITED'
  | 'SLUICE_FRAMEWORK_UNTESTED'
  | 'SLUICE_SHARED_QUOTA'
  | 'SLUICE_KEY_MISSING'
  | 'SLUICE_KEY_IPV6'
  | 'SLUICE_KEY_KIND'
  | 'SLUICE_ADDRESS_UNKNOWN'
  | 'SLUICE_BODY_MISSING'
  | 'SLUICE_PRICE'
  | 'SLUICE_METER'
  | 'SLUICE_METER_FULL'
  | 'SLUICE_PROXY_UNTRUSTED'
  | 'SLUICE_PROXY_EVERYBODY'
  | 'SLUICE_PROXY_HOPS'
  | 'SLUICE_PROXY_IGNORED'
  | 'SLUICE_CLASS_UNKNOWN'

/** The last ones are those of a `RateLimitError` and a `BudgetError`. */
export type Code =
  | SluiceErrorCode
  | StoreErrorCode
  | WaitErrorCode
  | WarningCode
  | 'SLUICE_REFUSED'
  | 'SLUICE_BUDGET'
