import { checkKnown, pathTo } from './known.ts'
import type { Option, Options } from './option.ts'
import { OPTION_NAMES } from './option-names.ts'
import { OPTIONS } from './table.ts'

/** The compiled values of options: each as its type reads it, or a function of the request. */
export type Values<T extends Options> = {
  readonly [name in keyof T]:
    | ReturnType<T[name]['type']['check']>
    | (T[name] extends { perRequest: unknown } ? (request: never) => unknown : never)
    | (T[name] extends { default: unknown } | { required: true } ? never : undefined)
}

/** The values of options that only some adapters have. */
interface AdapterValues {
  readonly as: 'scoped' | 'global' | undefined
  readonly address: unknown
  readonly hook: 'onRequest' | 'preValidation' | 'preHandler'
}

interface StoreValues {
  readonly redisStore: { readonly clock: (() => number) | undefined }
  readonly postgresStore: StoreValues['redisStore'] & {
    readonly schema: string
    readonly logged: boolean
  }
  readonly mysqlStore: StoreValues['redisStore']
  readonly dynamodbStore: StoreValues['redisStore'] & { readonly table: string }
  readonly sqliteStore: StoreValues['redisStore'] & {
    readonly driver: unknown
    readonly durable: boolean
    readonly maxBytes: number
  }
}

/**
 * The options of `table` out of `given`, checked and with their defaults.
 *
 * @param path where the options are, for messages: `policies[0]`, or ''
 * @param inherited replaces the defaults of options that are not set
 * @throws SluiceError if a value is wrong or a required option is missing
 */
export function readOptions<T extends Options>(
  table: T,
  path: string,
  given: object,
  inherited?: Values<T>,
): Values<T> {
  const values = Object.entries(table).map(([name, option]) => {
    const value = (given as Record<string, unknown>)[name]
    if (value === undefined && inherited !== undefined) return [name, inherited[name]]
    return [name, valueFrom(option, pathTo(path, name), value)]
  })
  return Object.fromEntries(values) as Values<T>
}

/** An option that only some adapters have; see `readOptions`. */
export function readAdapterOption<Name extends keyof AdapterValues>(
  name: Name,
  given: object,
  path = '',
): AdapterValues[Name] {
  const value = (given as Record<string, unknown>)[name]
  const found = valueFrom(OPTIONS.adapter[name], pathTo(path, name), value)
  return found as Values<typeof OPTIONS.adapter>[Name]
}

type OfStores = { readonly [S in keyof StoreValues]: Values<(typeof OPTIONS)[S]> }

/**
 * The options of a store, checked and with their defaults.
 *
 * @throws SluiceError if a value is wrong, or there is no option of a name
 */
export function readStoreOptions<S extends keyof StoreValues>(
  store: S,
  given: object,
): StoreValues[S] {
  checkKnown('', given, OPTION_NAMES[store])
  return readOptions(OPTIONS[store], '', given) as OfStores[S]
}

function valueFrom(option: Option, name: string, given: unknown): unknown {
  const value = given === undefined ? option.default : given
  if (value === undefined && option.required === undefined) return undefined
  if (option.perRequest && typeof value === 'function') return value
  return option.type.check(name, value)
}
