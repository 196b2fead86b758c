import type { Duration } from '@sluice/core'
import {
  checkArray,
  checkFunction,
  checkInteger,
  checkKnown,
  checkObject,
  checkOneOf,
  type StoreOptions,
} from '@sluice/core/internal'
import { type Level, varying } from './level.ts'
import type { MediaTokens } from './media.ts'
import { Money, wrong } from './money.ts'

/** The usage of a call, or the most it may use. */
export interface Usage {
  /** The name of the model, as in your prices: for a response, the model that responded. */
  readonly model: string
  /** Tokens of the input, including cache reads and writes. Default: 0. */
  readonly input?: number | undefined
  /** Tokens of the output. Default: 0. */
  readonly output?: number | undefined
  /** Input tokens read from a cache. Default: 0. */
  readonly cached?: number | undefined
  /** Input tokens written to a cache. Default: 0. */
  readonly cacheWrite?: number | undefined
  /**
   * Other things with a price: searches, images, seconds. The integrations pass on what a request
   * asks for, such as `service_tier`, and all usage that the provider's response reports.
   */
  readonly [other: string]: string | number | undefined
}

/** Usage with all its numbers, each at least 0. */
export type PricedUsage = Usage & {
  readonly [name in 'input' | 'output' | 'cached' | 'cacheWrite']: number
}

/**
 * Returns the price of usage, in the budget's unit. If it throws, or returns anything but a number
 * of at least 0, the usage has no price: then a call is refused, and past usage costs what was
 * reserved. The same happens if the usage has a field that makes a call cost more (`service_tier`,
 * `speed`, `inference_geo`, `modalities`, `server_tools`), and the function does not read it.
 */
export type Price = (usage: PricedUsage) => number | undefined

/** A limit in the budget's unit, at least 0; or a function that returns it for a client. */
export type LevelLimit = number | ((id: string, level: string) => number | Promise<number>)

/** A level that has reached a share of its budget. Amounts are in the budget's unit. */
export interface BudgetAlert {
  readonly level: string
  readonly id: string
  /** The share, as in `alertAt`. */
  readonly share: number
  /** Spent and reserved, including this call. */
  readonly used: number
  readonly limit: number
  /** When the window ends, ms since the epoch on the store's clock. */
  readonly windowEndsAt: number
}

export interface BudgetOptions<L extends string = string>
  extends Pick<StoreOptions, 'store' | 'prefix' | 'deadline' | 'onStoreError' | 'localShare'> {
  /** A currency, three letters such as `'usd'`, counted in millionths; or `'tokens'`. */
  unit: string
  /** A calendar window, or a fixed window of this length. */
  window: 'day' | 'week' | 'month' | Duration
  /** The time zone of calendar windows, such as `'Europe/Berlin'`. Default: `'UTC'`. */
  timeZone?: string | undefined
  /**
   * The budget of each level, innermost first: 1 … 8 names. All levels of an outermost one are
   * decided together, also in a cluster.
   */
  levels: { readonly [level in L]: LevelLimit }
  /** The price of usage. Default with the unit `'tokens'`: input plus output. */
  price?: Price | undefined
  /** Only alerts: refuses nothing. Default: false. */
  soft?: boolean | undefined
  /** The shares of a budget that cause an alert, above 0, up to 1. Default: `[0.8, 1]`. */
  alertAt?: readonly number[] | undefined
  /**
   * Called by the process whose call reaches a share, and again in the same window if the level
   * fell below it meanwhile.
   */
  onAlert?: ((alert: BudgetAlert) => void) | undefined
  /** How long an estimate stays reserved if its process dies. Default: `'30s'`. */
  hold?: Duration | undefined
  /**
   * What happens to the estimates of a process that dies. `'returned'`: they are given back after
   * `hold`, although their calls may have used something. `'charged'`: they stay charged until the
   * window ends, so that no budget is exceeded. Default: `'returned'`.
   */
  lost?: 'returned' | 'charged' | undefined
  /**
   * The most output tokens that the integrations ask for, unless the application sets a maximum.
   * Default: 4,096.
   */
  maxOutput?: number | undefined
  /** Estimates the tokens of an image, a recording or a file. Default: like `estimateTokens`. */
  mediaTokens?: MediaTokens | undefined
}

const KNOWN =
  'store prefix deadline onStoreError localShare unit window timeZone levels price soft alertAt onAlert hold lost maxOutput mediaTokens'
/** The names of the levels that a run adds. */
const OF_RUNS = /^(run|calls|toolCalls)(\.\d+)?(-2)?$/
const MAX_LEVELS = 8
const MAX_OUTPUT = 1_000_000_000

/** The checked options. */
export type Settings = ReturnType<typeof readSettings>

/** @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another */
export function readSettings(options: BudgetOptions) {
  checkObject('options', options, 'the options of createBudget')
  checkKnown('', options, KNOWN.split(' '))
  const { unit, window, timeZone, price, onAlert, mediaTokens, maxOutput = 4096 } = options
  const { soft = false, hold = '30s', lost = 'returned', alertAt = [0.8, 1], localShare } = options
  const { store, prefix = 'budget', deadline = '2s', onStoreError = 'deny' } = options
  const money = new Money(unit)
  const ofTokens: Price = ({ input, output }) => input + output
  const given = unit === 'tokens' ? (price ?? ofTokens) : (price as Price)
  if (onAlert !== undefined) checkFunction('onAlert', onAlert, '(alert) => void')
  if (mediaTokens !== undefined) checkFunction('mediaTokens', mediaTokens, '(media) => tokens')
  if (typeof soft !== 'boolean') throw wrong('soft', 'true or false', soft, 'Write true or false.')
  checkOneOf('lost', lost, ['returned', 'charged'])
  checkInteger('maxOutput', maxOutput, 1, MAX_OUTPUT)
  checkArray('alertAt', alertAt, 'an array of shares')
  const levels = Object.entries(checkObject('levels', options.levels, '{ key: 20, team: 500 }'))
  const names = levels.map(([name]) => name)
  if (names.length === 0 || names.length > MAX_LEVELS || names.some((name) => OF_RUNS.test(name)))
    throw wrong(
      'levels',
      `1 to ${MAX_LEVELS} names, but run, calls and toolCalls`,
      levels,
      'Name the levels.',
    )
  /** The options of a policy that counts what is reserved and used. Without `hold`, what is charged stays. */
  const counted = {
    unit: money.counted,
    reserve: true,
    ...(!soft && lost === 'returned' && { hold }),
  }
  const calendar = { window, timeZone, algorithm: 'fixed-window', alertAt, ...counted }
  return {
    ...{ money, soft, onAlert, maxOutput, mediaTokens, counted },
    price: checkFunction('price', given, '({ model, input, output, cached }) => amount'),
    levels: levels.map(([name, limit]) => toLevel(name, limit, money, calendar)),
    store: { store, prefix, deadline: deadline as Duration, onStoreError, localShare },
  }
}

function toLevel(name: string, given: LevelLimit, money: Money, options: object): Level {
  const option = `levels.${name}`
  const limit = typeof given === 'function' ? varying : money.ofLimit(option, given)
  const unitsOf = async (id: string) =>
    money.ofLimit(option, typeof given === 'function' ? await given(id, name) : given)
  return { name, shown: name, unitsOf, policy: { name, limit, ...options } }
}
