import type { Duration, MediaTokens } from '@sluice/core'
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
import { Money, wrong } from './money.ts'

/** The usage of a call, or the most it may use. */
export interface Usage {
  /** The name of the model, as your prices have it: of an answer, the one that has answered. */
  readonly model: string
  /** Tokens of the input, with those that were read from a cache or written to it. Default: 0. */
  readonly input?: number | undefined
  /** Tokens of the output. Default: 0. */
  readonly output?: number | undefined
  /** Tokens of the input that were read from a cache. Default: 0. */
  readonly cached?: number | undefined
  /** Tokens of the input that were written to a cache. Default: 0. */
  readonly cacheWrite?: number | undefined
  /**
   * What else has a price: searches, images, seconds. The integrations pass on what a request asks for, such as
   * `service_tier`, and all that the provider's answer says of its usage.
   */
  readonly [other: string]: string | number | undefined
}

/** Usage with all its numbers, each from 0 on. */
export type PricedUsage = Usage & {
  readonly [name in 'input' | 'output' | 'cached' | 'cacheWrite']: number
}

/**
 * The price of usage, in the budget's unit. Anything but a number from 0 on, or an error, means that the usage has no
 * price: then a call is refused, and what has been used costs what was reserved. So it is if the usage has what makes a
 * call dearer (`service_tier`, `speed`, `inference_geo`, `modalities`, `server_tools`), and the function does not read it.
 */
export type Price = (usage: PricedUsage) => number | undefined

/** A limit in the budget's unit, from 0 on; or a function that returns it for a client, with its own limit and top-ups. */
export type LevelLimit = number | ((id: string, level: string) => number | Promise<number>)

/** A level that has reached a share of its budget. Amounts are in the budget's unit. */
export interface BudgetAlert {
  readonly level: string
  readonly id: string
  /** As `alertAt` has it. */
  readonly share: number
  /** Spent and reserved, with this call. */
  readonly used: number
  readonly limit: number
  /** When the window ends, ms since the epoch on the store's clock. */
  readonly windowEndsAt: number
}

export interface BudgetOptions<L extends string = string>
  extends Pick<StoreOptions, 'store' | 'prefix' | 'deadline' | 'onStoreError' | 'localShare'> {
  /** A currency, three letters such as `'usd'`, counted in millionths; or `'tokens'`. */
  unit: string
  /** A window of the calendar, or a fixed window of this length. */
  window: 'day' | 'week' | 'month' | Duration
  /** The zone of windows of the calendar, such as `'Europe/Berlin'`. Default: `'UTC'`. */
  timeZone?: string | undefined
  /**
   * The budget of each level, from the innermost to the outermost: 1 … 8 names. All of an outermost one are decided
   * together, in a cluster too.
   */
  levels: { readonly [level in L]: LevelLimit }
  /** Default with the unit `'tokens'`: input and output. */
  price?: Price | undefined
  /** Only alerts: refuses nothing. Default: false. */
  soft?: boolean | undefined
  /** The shares of a budget that cause an alert, above 0, up to 1. Default: `[0.8, 1]`. */
  alertAt?: readonly number[] | undefined
  /**
   * Called by the process whose call reaches a share: again in the same window if a level fell below it meanwhile.
   */
  onAlert?: ((alert: BudgetAlert) => void) | undefined
  /** How long an estimate stays reserved if its process dies. Default: `'30s'`. */
  hold?: Duration | undefined
  /**
   * Whether the estimates of a process that dies are given back after `hold`, though their calls have used something by
   * then (`'returned'`), or stay charged until the window ends, so that they never let a budget be exceeded
   * (`'charged'`). Default: `'returned'`.
   */
  lost?: 'returned' | 'charged' | undefined
  /** The most output that the integrations ask for, where the application does not say it, tokens. 1 … 10⁹, default: 4,096. */
  maxOutput?: number | undefined
  /** About how many tokens a picture, a recording or a file is. Default: as `estimateTokens` has it. */
  mediaTokens?: MediaTokens | undefined
}

const KNOWN =
  'store prefix deadline onStoreError localShare unit window timeZone levels price soft alertAt onAlert hold lost maxOutput mediaTokens'
/** The names of the levels that a run adds. */
const OF_RUNS = /^(run|calls)(\.\d+)?(-2)?$/
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
    throw wrong('levels', `1 to ${MAX_LEVELS} names, but run and calls`, levels, 'Name the levels.')
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
