import type { Limiter } from '@sluice/core'
import { auditedStore, type User } from './audited-store.ts'
import { BudgetedCalls } from './budgeted-calls.ts'
import { limitOf } from './checks/account.ts'
import { checkDeadline } from './checks/deadline.ts'
import { MAX_WAITING, type Waiting, Waits } from './checks/waits.ts'
import { LeasedLimiter } from './leased-limiter.ts'
import type { Owner } from './owner.ts'
import type { PlannedApplication, PlannedCall, PlannedPolicy, PlannedRequest } from './plan.ts'
import { Quotas } from './quotas.ts'
import { SOCKETS } from './timeline.ts'
import type { World } from './world.ts'

/** How long an own limit lasts that is given by a call of a turn, ms. */
const OWN_MS = 5000
/** How often a stream is settled that the store does not confirm, and after how long again, ms. */
const SETTLE_ATTEMPTS = 6
const SETTLE_AFTER_MS = 400

/** The limiters that the application of a process calls itself, beside the one for its requests over HTTP. */
export class CalledLimiters {
  /** Reserves for streams; undefined: the application has none. */
  readonly streams: Limiter<'async'> | undefined
  /** For which calls wait, and how they do; undefined: the application has none. */
  readonly queue: { readonly limiter: Limiter<'async'>; readonly waits: Waits } | undefined
  /** The limiter that is called several times in one turn; undefined: the application has none. */
  readonly #calls: Limiter<'async'> | undefined
  /** Undefined: the application has none. */
  readonly leased: LeasedLimiter | undefined
  /** Undefined: the application has none. */
  readonly budgeted: BudgetedCalls | undefined
  /** What ends each stream. */
  readonly #openStreams = new Set<() => void>()
  readonly #owner: Owner

  /** @param hold how long this version of the application holds reservations, ms. Undefined: as planned */
  constructor(owner: Owner, hold: number | undefined) {
    this.#owner = owner
    const { name, world } = owner
    const { streams, queue, calls, leases, budget } = world.plan.application
    this.streams = streams && this.#streamLimiter(streams, hold ?? streams.reserveMs)
    this.queue = queue && this.#queueLimiter(queue)
    this.#calls = calls && this.#limiterOf(calls, world.calls, { name, isOrdered: true })
    this.leased = leases && new LeasedLimiter(owner, leases)
    this.budgeted = budget && new BudgetedCalls(owner, budget)
  }

  /** A request that is no request over HTTP. */
  call(planned: PlannedRequest): void {
    if (planned.leased !== undefined) this.leased?.call(planned, planned.leased)
    else if (planned.model !== undefined) void this.budgeted?.call(planned)
    else if (planned.calls !== undefined) this.#callAll(planned, planned.calls)
    else if (planned.wait?.takesTurn) void this.#takeTurn(planned, planned.wait)
    else if (planned.wait !== undefined) void this.#wait(planned, planned.wait)
    else void this.#stream(planned, planned.stream)
  }

  close(): void {
    this.streams?.close()
    this.queue?.limiter.close()
    this.#calls?.close()
    this.leased?.close()
    this.budgeted?.close()
  }

  /** The application ends all streams. */
  endAll(): void {
    for (const end of [...this.#openStreams]) end()
  }

  /** An operator makes a client's quota full, or blocks it for so many ms. */
  end(client: string, ms?: number): void {
    for (const limiter of [this.streams, this.queue?.limiter]) {
      const done = ms === undefined ? limiter?.reset(client) : limiter?.block(client, ms)
      done?.catch(() => {})
    }
    this.leased?.end(client, ms)
  }

  /** A stream reserves its estimate, and is settled when it ends. */
  async #stream(planned: PlannedRequest, ending: PlannedRequest['stream']): Promise<void> {
    const { world, name, machine } = this.#owner
    const { client, cost, actual, workMs } = planned
    const arrivedAt = world.timeline.now
    world.tell(name, () => `begins a stream of ${client} for ${cost}`)
    const { allowed, source, ...reserved } = await (this.streams as Limiter<'async'>).acquire(
      client,
      { cost },
    )
    world.tell(name, () => `${allowed ? 'admits' : 'refuses'} the stream (${source})`)
    checkDeadline(this.#owner, { arrivedAt })
    if (!allowed || machine.isDead) return
    const settle = (units: number, attempts = SETTLE_ATTEMPTS) => {
      world.tell(name, () => `settles the stream of ${client} with ${units}`)
      reserved.settle(units).catch((error: unknown) => {
        this.#checkEscaped(error)
        if (attempts > 1) machine.post(SETTLE_AFTER_MS, SOCKETS, () => settle(units, attempts - 1))
      })
    }
    const end = () => {
      if (!this.#openStreams.delete(end)) return
      if (ending === 'release') void reserved.release()
      else settle(actual)
      if (ending === 'settle twice') machine.post(200, SOCKETS, () => settle(actual + 1))
    }
    this.#openStreams.add(end)
    if (workMs !== undefined) machine.post(workMs, SOCKETS, end)
  }

  /** @param hold how long this version holds reservations, ms */
  #streamLimiter(
    planned: NonNullable<PlannedApplication['streams']>,
    hold: number,
  ): Limiter<'async'> {
    const { reserveMs: _, ...policy } = planned
    const user = { name: `the streams of ${this.#owner.name}`, holds: [hold] }
    const policies = [{ ...policy, reserve: true, hold } as const]
    return this.#limiterOf(planned, this.#owner.world.streams, user, { policies })
  }

  /** Calls about one client, all in one turn. */
  #callAll({ client }: PlannedRequest, calls: readonly PlannedCall[]): void {
    const { world, name, machine } = this.#owner
    const limiter = this.#calls as Limiter<'async'>
    const until = machine.now() + OWN_MS
    const what = calls.map(({ kind, units }) => (kind === 'peek' ? kind : `${kind} ${units}`))
    world.tell(name, () => `calls for ${client}: ${what.join(', ')}`)
    world.order.called(name, client, what)
    const arrivedAt = world.timeline.now
    const callOne = async ({ kind, units }: PlannedCall): Promise<void> => {
      if (kind === 'override') return limiter.override(client, { limit: units, until })
      if (kind === 'grant') return void (await limiter.grant(client, units))
      if (kind === 'settle') return limiter.settle(client, units)
      await (kind === 'peek' ? limiter.peek(client) : limiter.consume(client, { cost: units }))
      checkDeadline(this.#owner, { arrivedAt })
    }
    for (const call of calls) callOne(call).catch(this.#checkEscaped)
  }

  /** A call waits until it is admitted, is given up or aborted. */
  async #wait(planned: PlannedRequest, wait: Waiting['wait']): Promise<void> {
    const { world, name, machine } = this.#owner
    const { limiter, waits } = this.queue as NonNullable<CalledLimiters['queue']>
    const { client, cost, workMs } = planned
    const { priority, maxMs: maxWait, abortsMs } = wait
    world.tell(name, () => `gets a call of ${client} that waits for ${cost}`)
    const waiting = waits.begin(planned, wait)
    const aborts = new AbortController()
    if (abortsMs !== undefined) {
      machine.post(abortsMs, SOCKETS, () => {
        waiting.isAborted ||= waits.open.has(waiting)
        aborts.abort()
      })
    }
    const options = { cost, priority, signal: aborts.signal }
    try {
      const holdsSlots = 'hold' in (world.plan.application.queue as PlannedPolicy)
      const slot = holdsSlots
        ? await limiter.acquire(client, { ...options, maxWait: maxWait as number })
        : undefined
      const { source } = slot ?? (await limiter.wait(client, { ...options, maxWait }))
      if (machine.isDead) return
      waits.admit(waiting, source === 'store')
      const end = () => {
        if (this.#openStreams.delete(end)) void slot?.release()
      }
      this.#openStreams.add(end)
      if (workMs !== undefined) machine.post(workMs, SOCKETS, end)
    } catch (error) {
      if (machine.isDead && !machine.isLeaving) return
      if (error instanceof this.#owner.core.WaitError)
        waits.reject(waiting, error.code, error.retryAfterMs)
      else world.fail('escaped', `${name}: ${error}`)
    }
  }

  /** A call takes a turn, and perhaps gives it back. */
  async #takeTurn({ client, cost }: PlannedRequest, { abortsMs }: Waiting['wait']): Promise<void> {
    const { world, name, machine } = this.#owner
    const { limiter, waits } = this.queue as NonNullable<CalledLimiters['queue']>
    const arrivedAt = world.timeline.now
    const turn = await limiter.takeTurn(client, { cost })
    const { allowed, delayMs, source } = turn
    world.tell(
      name,
      () => `${allowed ? `gives a turn in ${delayMs} ms` : 'refuses a turn'} to ${client}`,
    )
    checkDeadline(this.#owner, { arrivedAt })
    if (!allowed || machine.isDead) return
    if (source === 'store') waits.admitted += cost
    if (abortsMs === undefined) return
    machine.post(abortsMs, SOCKETS, () => {
      if (source === 'store') waits.admitted -= cost
      Promise.resolve(turn.cancel()).catch(this.#checkEscaped)
    })
  }

  #queueLimiter(planned: PlannedPolicy): NonNullable<CalledLimiters['queue']> {
    const owner = this.#owner
    const { queueBan: ban } = owner.world.plan.application
    const space = ban && { ban, id: 'queue' }
    const bans = space && { common: space, route: space }
    const user = { name: `the calls that wait in ${owner.name}`, bans }
    const limiter = this.#limiterOf(planned, owner.world.waits, user, {
      maxWaiting: MAX_WAITING,
      ban,
    })
    return { limiter, waits: new Waits(owner, planned) }
  }

  /** A limiter with one policy, whose charges an audit knows. */
  #limiterOf(
    planned: PlannedPolicy,
    audit: World['audit'],
    own: Pick<User, 'name'> & Partial<User>,
    options: object = {},
  ): Limiter<'async'> {
    const { deadline, onStoreError, localShare } = this.#owner.world.plan.application
    const limits = [limitOf(planned)]
    const user = { audit, quotas: new Quotas([planned]), limits, allowance: undefined, ...own }
    const store = auditedStore(this.#owner, user)
    const common = { store, deadline, onStoreError, localShare, policies: [planned] }
    return this.#owner.core.createLimiter({ ...common, ...options })
  }

  /** Only the store may fail. */
  readonly #checkEscaped = (error: unknown): void => {
    if (!(error instanceof this.#owner.core.StoreError))
      this.#owner.world.fail('escaped', `${this.#owner.name}: ${error}`)
  }
}
