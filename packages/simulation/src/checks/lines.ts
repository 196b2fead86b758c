import type { Decision, PolicyDecision, WaitError } from '@sluice/core'
import type { HttpLimiter } from '@sluice/core/adapter'
import type { Charge } from '@sluice/core/store'
import type { Exchange, Reply } from '../exchange.ts'
import type { Machine } from '../machine.ts'
import type { PlannedWaits } from '../plan.ts'
import type { World } from '../world.ts'
import { stalledMs, waitsWithin } from './deadline.ts'

type Limiter = HttpLimiter<Exchange, Reply>['limiter']
type Waiting = Limiter['waiting']

/** What timers, which count whole milliseconds, add to a wait, ms. */
const ROUNDING_MS = 3

/** A slot may be free again before that, ms; a longer wait is for a block. */
const SLOT_WAIT_MS = 1000

/** A request of a limiter whose requests wait. */
interface Asked {
  readonly exchange: Exchange
  /** What was said of it when it came; undefined: others waited, so nobody was asked. */
  first: Decision | undefined
  /** Undefined: it has not waited. */
  waiter: Waiter | undefined
}

/** A request that waits for its turn. Times are ms of the simulation. */
interface Waiter {
  readonly exchange: Exchange
  readonly charges: readonly Charge[]
  /** Whose turn it is. */
  readonly client: string
  readonly priority: number
  readonly since: number
}

/** Checks how the requests of one limiter wait: in their order, no longer than they may, and only where that helps. */
export class Lines {
  private readonly world: World
  private readonly name: string
  private readonly machine: Machine
  private readonly waits: PlannedWaits
  private readonly asked = new WeakMap<readonly Charge[], Asked>()
  /** Those that wait, the oldest first. */
  private readonly open = new Map<readonly Charge[], Waiter>()

  constructor(world: World, name: string, machine: Machine, waits: PlannedWaits) {
    this.world = world
    this.name = name
    this.machine = machine
    this.waits = waits
  }

  /**
   * Learns when the limiter's requests wait.
   * @param note told of the charges of each request before anybody is asked
   */
  follow(limiter: Limiter, note: (charges: readonly Charge[]) => Exchange): void {
    const { waiting } = limiter
    const awaitedKey = waiting.awaitedKey.bind(waiting)
    const decide = limiter.decide.bind(limiter)
    const wait = waiting.wait.bind(waiting)
    waiting.awaitedKey = (charges) => {
      this.asked.set(charges, { exchange: note(charges), first: undefined, waiter: undefined })
      return awaitedKey(charges)
    }
    limiter.decide = (charges, ...others) => {
      const asked = this.asked.get(charges)
      const decision = decide(charges, ...others)
      if (asked !== undefined && asked.waiter === undefined)
        void Promise.resolve(decision).then((first) => {
          asked.first = first
        })
      return decision
    }
    waiting.wait = (...given) => this.wait(wait, given)
  }

  /** A client has left: its request no longer waits. */
  checkGone(exchange: Exchange): void {
    for (const each of this.open.values())
      if (each.exchange === exchange) this.fail('a request waits whose client has left')
  }

  private wait(wait: Waiting['wait'], given: Parameters<Waiting['wait']>) {
    const [charges, { priority = 0 }, request] = given
    const asked = this.asked.get(charges) as Asked
    const { exchange, first } = asked
    const { client } = request as { client: string }
    const waiter = { exchange, charges, client, priority, since: this.now }
    asked.waiter = waiter
    exchange.hasWaited = true
    this.world.tell(this.name, () => `lets the request of ${exchange.planned.client} wait`)
    if (first && this.isHopeless(first)) this.fail('a request waits for what comes too late')
    this.open.set(charges, waiter)
    const ended = wait(...given)
    ended.then(
      () => this.admit(waiter),
      (error) => this.reject(waiter, error),
    )
    return ended
  }

  /** Whether it is certain that a refused one is not admitted in time. */
  private isHopeless({ policies, ban }: Decision): boolean {
    const isCertain = ({ unit, retryAfterMs, dryRun }: PolicyDecision) =>
      !dryRun &&
      retryAfterMs > this.waits.maxMs &&
      (unit !== 'concurrent-requests' || retryAfterMs > SLOT_WAIT_MS)
    return ban !== undefined || policies.some(isCertain)
  }

  private admit(waiter: Waiter): void {
    this.end(waiter)
    if (waiter.exchange.isClosed) this.fail('a request is admitted whose client has left')
  }

  private reject(waiter: Waiter, { code }: WaitError): void {
    const { exchange } = waiter
    this.world.tell(this.name, () => `ends the wait of ${exchange.planned.client} (${code})`)
    this.end(waiter)
    exchange.overAt ??= this.now
    exchange.hasLeftLine = code === 'SLUICE_WAIT_ABORTED'
    if (exchange.hasLeftLine && !exchange.isClosed)
      this.fail('a request leaves the line, and its client has not left')
  }

  private end({ charges, since }: Waiter): void {
    this.open.delete(charges)
    const mostMs = waitsWithin(this.world.plan.application) + ROUNDING_MS
    const lateMs = this.now - since - mostMs - stalledMs(this.machine, since, this.now)
    if (lateMs > 0) this.fail(`a request's wait ends ${lateMs} ms late`)
  }

  private get now(): number {
    return this.world.timeline.now
  }

  private fail(what: string): void {
    this.world.fail('waiting', `${this.name}: ${what}`)
  }
}
