import {
  type Charge,
  type Duration,
  SluiceError,
  type Store,
  type StoreEntry,
  type Unit,
} from '@sluice/core'
import {
  type ChargeListener,
  checkFunction,
  checkInteger,
  checkKnown,
  checkObject,
  conflict,
  endedUnits,
  type Policy,
  parseDuration,
  textOf,
  warnOnce,
} from '@sluice/core/internal'

export type { ChargeListener }

/** The units that a policy charged a key since the last record of the two. */
export interface MeterRecord {
  /**
   * Identifies this record, also if it is sent again: a receiver that ignores known ids counts it
   * once.
   */
  readonly id: string
  /** The key that was charged, as in events: if it has a shard, it begins with that. */
  readonly key: string
  /** The name of the policy. */
  readonly policy: string
  /**
   * The entry of `routes` with its own limits, which counts separately. Left out if there is none.
   */
  readonly route?: string | undefined
  readonly unit: Unit
  /** Units, an integer; below 0, more was given back than charged. */
  readonly units: number
  /** The end of the window in which it was charged, ms since the epoch on the store's clock. */
  readonly windowEndsAt: number
  /** When it was last charged, ms since the epoch on the store's clock. */
  readonly at: number
}

/** A key's count in the store in the current window, across all processes. */
export interface MeterCount {
  /** The key, or its digest: see `StoreEntry.isDigest`. */
  readonly key: string
  readonly policy: string
  /** As in records. */
  readonly route?: string | undefined
  /** Units charged in this window so far, estimates included. */
  readonly units: number
  /** When the window ends, ms since the epoch on the store's clock. */
  readonly windowEndsAt: number
}

export interface MeterOptions {
  /** How often charges are sent. Duration, 10 ms … a day. */
  readonly every: Duration
  /**
   * Sends a batch. If it throws, rejects or does not settle in time, the same batch is sent again.
   */
  readonly send: (batch: readonly MeterRecord[]) => unknown
  /** The most records of a batch. Integer, 1 … 10,000. Default: 100. */
  readonly maxBatch?: number | undefined
  /** How long `send` may take for a batch. Duration, 10 ms … a day. Default: `'10s'`. */
  readonly timeout?: Duration | undefined
}

export interface Meter {
  /**
   * Sends all charges until now. Rejects with what `send` does; the batch is sent again after
   * `every`.
   */
  flush(): Promise<void>
  /**
   * The store's counts for the current fixed and calendar windows. What they exceed the records of
   * these windows by is what dead processes did not send. Read them before the windows end.
   * @throws SluiceError if the store can't list its keys
   */
  counts(): AsyncIterable<MeterCount>
  /** Ends the metering, and sends what is left. Rejects with what `send` does. */
  close(): Promise<void>
}

/** A source of records: a limiter of `createLimiter`, a middleware or a plugin, or a budget. */
export interface Metered {
  readonly store: Store
  readonly counted: { readonly prefix: string }
  /** Where it and the limiters of its routes count. Left out: `counts()` finds nothing, and no record has a route. */
  readonly places?: readonly MeteredPlace[] | undefined
  /** Calls the listener with each charge of it, and of the limiters of its routes; undefined: none. */
  observe(listener: ChargeListener | undefined): void
}

/** Where the policies of a limiter are counted, and for which route, if that counts apart. */
export interface MeteredPlace {
  readonly prefix: string
  readonly policies: readonly Policy[]
  readonly route: string | undefined
}

/** Records that wait at most, because `send` fails; further ones are dropped, with a warning. */
const MAX_WAITING = 1_000_000
/** Keys, policies and windows between two batches at most: with more, a batch begins at once. */
const MAX_OPEN = 100_000
const MIN_EVERY_MS = 10
const DAY_MS = 86_400_000

/** The limiters that are metered now, and by which meter. */
const metered = new WeakMap<Metered, Meter>()

/**
 * Sends what is really charged to somebody who bills it, or keeps it: each record once or more, with an identifier.
 *
 * @param limit a limiter, or what has one: a middleware of an adapter, Fastify's `app.rateLimit`, a budget
 * @throws SluiceError for wrong options, and if it is metered already
 */
export function meter(limit: object, options: MeterOptions): Meter {
  const source = sourceOf(limit)
  const known = ['every', 'send', 'maxBatch', 'timeout']
  checkKnown('', checkObject('options', options, '{ every, send }'), known)
  const { every, send, maxBatch = 100, timeout = '10s' } = options
  checkFunction('send', send, '(batch) => a promise')
  const everyMs = checkInteger('every', parseDuration('every', every), MIN_EVERY_MS, DAY_MS)
  const timeoutMs = checkInteger('timeout', parseDuration('timeout', timeout), MIN_EVERY_MS, DAY_MS)
  checkInteger('maxBatch', maxBatch, 1, 10_000)
  if (metered.has(source))
    throw conflict(
      'meter',
      'one meter of a limiter',
      limit,
      'Send to both receivers from one meter.',
    )
  const sendInTime = (batch: readonly MeterRecord[]) => within(timeoutMs, () => send(batch))
  const made = new ChargeMeter(source, sendInTime, maxBatch, everyMs)
  metered.set(source, made)
  return made
}

class ChargeMeter implements Meter {
  readonly #source: Metered
  readonly #send: MeterOptions['send']
  readonly #maxBatch: number
  /** The id of this process in its records. */
  readonly #process = crypto.randomUUID()
  #records = 0
  /** The records of the next batches, by key, policy and window. */
  #open = new Map<string, { -readonly [field in keyof MeterRecord]: MeterRecord[field] }>()
  /** The routes of the limiters, by their policies. */
  readonly #routes = new Map<readonly Policy[], string | undefined>()
  #waiting: (readonly MeterRecord[])[] = []
  #sending: Promise<void> | undefined
  readonly #timer: { unref?(): void }

  constructor(source: Metered, send: MeterOptions['send'], maxBatch: number, everyMs: number) {
    this.#source = source
    this.#send = send
    this.#maxBatch = maxBatch
    source.observe((policies, ...charged) => this.#charge(policies, ...charged))
    this.#timer = setInterval(() => this.flush().catch(warnOfSend), everyMs)
    this.#timer.unref?.()
  }

  flush(): Promise<void> {
    this.#makeBatches()
    this.#sending ??= this.#sendAll()
    return this.#sending
  }

  async *counts(): AsyncIterable<MeterCount> {
    const { places = [], store, counted } = this.#source
    if (store.inspect === undefined)
      throw conflict('counts()', 'a store that lists its keys', store, 'Count in another store.')
    for await (const entry of store.inspect({ prefix: counted.prefix })) {
      const { policy, key, used, resetMs, at, keyspace } = entry
      const isFixed = keyspace.algorithm.name.endsWith('fixed-window')
      if (!isFixed || used === undefined || resetMs === undefined) continue
      const place = places.find((each) => hasCounted(each, entry))
      if (place === undefined) continue
      const { route } = place
      yield { key, policy, ...(route && { route }), units: used, windowEndsAt: at + resetMs }
    }
  }

  async close(): Promise<void> {
    // The limiter may have another meter by now.
    if (metered.get(this.#source) === this) {
      this.#source.observe(undefined)
      metered.delete(this.#source)
    }
    clearInterval(this.#timer as never)
    await this.#sending?.catch(() => {})
    await this.flush()
  }

  #charge(...[policies, charges, origins, isSettlement]: Parameters<ChargeListener>): void {
    const route = this.#routeOf(policies)
    for (const [i, charge] of charges.entries()) {
      const policy = policies[i] as Policy
      const units = unitsOf(policy, charge, isSettlement)
      if (units === 0) continue
      const at = origins[i]?.at ?? Date.now()
      const windowEndsAt = windowEndOf(charge, at)
      const id = `${windowEndsAt} ${policy.name} ${charge.key} ${route}`
      const record = this.#open.get(id)
      if (record === undefined) {
        const { name, unit } = policy
        const { key } = charge
        const charged = { id: '', key, policy: name, unit, units, windowEndsAt, at }
        this.#open.set(id, route === undefined ? charged : { ...charged, route })
        if (this.#open.size >= MAX_OPEN) this.#makeBatches()
      } else {
        record.units += units
        record.at = Math.max(record.at, at)
      }
    }
  }

  /** The route of a limiter, which may have been added since the meter began. */
  #routeOf(policies: readonly Policy[]): string | undefined {
    if (!this.#routes.has(policies))
      for (const each of this.#source.places ?? []) this.#routes.set(each.policies, each.route)
    return this.#routes.get(policies)
  }

  /** Makes batches of what was charged: from now on they stay as they are. */
  #makeBatches(): void {
    const records = [...this.#open.values()].filter(({ units }) => units !== 0)
    this.#open = new Map()
    const room = MAX_WAITING - this.#waiting.reduce((sum, { length }) => sum + length, 0)
    if (records.length > room) warnOfDrop(records.length - room)
    const kept = records.slice(0, Math.max(0, room))
    for (const record of kept) {
      this.#records += 1
      record.id = `${this.#process}-${this.#records}`
    }
    for (let i = 0; i < kept.length; i += this.#maxBatch)
      this.#waiting.push(kept.slice(i, i + this.#maxBatch))
  }

  /** One batch after the other: a receiver gets the records of a process in their order. */
  async #sendAll(): Promise<void> {
    // Not before `sending` is set: it must end in the same turn in which the last batch has gone.
    await undefined
    try {
      for (let [batch] = this.#waiting; batch !== undefined; [batch] = this.#waiting) {
        await this.#send(batch)
        this.#waiting.shift()
      }
    } finally {
      this.#sending = undefined
    }
  }
}

/** @returns what is charged for certain: an estimate that may come back is, when it is settled */
function unitsOf(
  { holdsSlots, reserves }: Policy,
  { cost, claim }: Charge,
  isSettlement: boolean,
): number {
  if (holdsSlots) return 0
  if (isSettlement) return cost + ((reserves && endedUnits(claim)) || 0)
  return reserves && claim !== undefined ? 0 : cost
}

/** Whether the limiter has counted it, and not another one of the same prefix with a policy of the same name. */
function hasCounted({ prefix, policies }: MeteredPlace, entry: StoreEntry): boolean {
  const isOf = (policy: Policy) =>
    policy.name === entry.policy &&
    (policy.windowVaries || policy.keyspace().name === entry.keyspace.name)
  return prefix === entry.prefix && policies.some(isOf)
}

/** The end of the window that `at` is in; without windows, of a span as long, aligned to the epoch. */
function windowEndOf({ limit }: Charge, at: number): number {
  const { calendar, windowMs } = limit.params
  return calendar === undefined ? (Math.floor(at / windowMs) + 1) * windowMs : calendar.at(at).end
}

function sourceOf(limit: unknown): Metered {
  const { limiter } = (limit ?? {}) as { limiter?: unknown }
  for (const each of [limit, limiter] as Partial<Metered>[])
    if (typeof each?.observe === 'function') return each as Metered
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'limit',
    expected: 'a limiter, or a middleware that has one',
    received: limit,
    fix: 'Give what rateLimit, createLimiter or createBudget returned; in Fastify, app.rateLimit.',
  })
}

/** Rejects if a call has not settled in time. */
async function within(ms: number, call: () => unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it has not settled within ${ms} ms.`)), ms)
  })
  try {
    await Promise.race([call(), late])
  } finally {
    clearTimeout(timer)
  }
}

function warnOfSend(error: unknown): void {
  warnOnce(
    'SLUICE_METER',
    `send of a meter failed: ${textOf(error)} It is called again with the same batch. While it fails, records wait in this process.`,
  )
}

function warnOfDrop(count: number): void {
  warnOnce(
    'SLUICE_METER_FULL',
    `${count} records of a meter are dropped, because send has failed for too long: ${MAX_WAITING} wait already.`,
  )
}
