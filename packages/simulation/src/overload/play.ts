import type { RequestAdapter } from '@sluice/http/adapter'
import type { LoadShedder } from '@sluice/http/overload'
import { random } from '@sluice/test-harness/random'
import type { Core, Cores } from '../core.ts'
import { adapter, Exchange, type Reply } from '../exchange.ts'
import { FetchExchange, fetchAdapter } from '../fetch-exchange.ts'
import { Machine } from '../machine.ts'
import { type Failure, Stage } from '../stage.ts'
import { SOCKETS } from '../timeline.ts'
import type { Call } from './call.ts'
import { checkGoals } from './goals.ts'
import type { Change, LoadPlan } from './load-plan.ts'
import { ModelServer } from './model-server.ts'
import { ShedLine } from './shed-line.ts'

/** How long the last requests take at most, ms. */
const REST_MS = 60_000

/** Impatient clients leave by then, ms. */
const IMPATIENT_MS = 300

/** What happened in a run. */
export interface LoadOutcome {
  readonly failure: Failure | undefined
  readonly calls: readonly Call[]
  readonly simulatedMs: number
  readonly events: number
}

/** Plays a run until it is over, or something happens that must not. */
export async function playLoad(plan: LoadPlan, cores: Cores): Promise<LoadOutcome> {
  const stage = new Stage(false)
  const { timeline, fail } = stage
  const machine = new Machine(stage, 'the server', random(plan.seed ^ 0x10ad))
  const core = cores.begin()(machine)
  const application = new ServedApplication(plan, stage, machine, core)
  for (const change of plan.changes)
    timeline.at(change.at, SOCKETS, () => application.change(change))
  timeline.at(0, SOCKETS, () => application.sendNext())
  await stage.play(() => timeline.run(plan.duration + REST_MS))
  const { calls, line } = application
  if (stage.failure === undefined) line.checkEmpty()
  if (stage.failure === undefined) checkGoals(plan, calls, fail)
  const { duration: simulatedMs } = plan
  return { failure: stage.failure, calls, simulatedMs, events: timeline.events }
}

/** A process that sheds load, with its clients, whose requests come whether or not earlier ones were answered. */
class ServedApplication {
  readonly calls: Call[] = []
  readonly line: ShedLine
  readonly #plan: LoadPlan
  readonly #stage: Stage
  readonly #machine: Machine
  readonly #core: Core
  readonly #server: ModelServer
  readonly #shedder: LoadShedder<Exchange, Reply>
  readonly #byExchange = new Map<Exchange, Call>()
  /** What the application responds to. */
  readonly #begun = new Set<Reply>()
  readonly #random: () => number
  #times = 0

  constructor(plan: LoadPlan, stage: Stage, machine: Machine, core: Core) {
    const { timeline } = stage
    this.#plan = plan
    this.#stage = stage
    this.#machine = machine
    this.#core = core
    this.#random = random(plan.seed ^ 0xa11)
    this.#server = new ModelServer(timeline, machine, plan.server, random(plan.seed ^ 0xdb))
    const own = plan.isFetch ? fetchAdapter(core) : adapter
    const options = {
      classOf: (exchange: Exchange) => this.#classOf(exchange),
      classes: Object.fromEntries(plan.classes.map(({ name, reserve }) => [name, { reserve }])),
      queue: plan.queue,
      key: ({ planned }: Exchange) => planned.client,
    }
    const watched = { ...(own as RequestAdapter<Exchange, Reply>), send: this.#refuses }
    this.#shedder = new core.LoadShedder(options, watched)
    this.line = new ShedLine(plan, stage, machine, () => this.#shedder.admission)
  }

  change(change: Change): void {
    if (change.kind === 'load') this.#times = change.times
    else if (change.kind === 'capacity') this.#server.factor = change.factor
    else this.#machine.post(0, SOCKETS, () => this.#machine.stall(change.ms))
  }

  /** Sends requests at random times, so many a second as is planned for the moment. */
  sendNext(): void {
    const random = this.#random
    const perSecond = Math.max(1, this.#times * this.#plan.server.perSecond)
    const ms = (-Math.log(1 - random()) * 1000) / perSecond
    if (this.#stage.timeline.now + ms > this.#plan.duration) return
    this.#stage.timeline.after(ms, () => {
      this.#send()
      this.sendNext()
    })
  }

  /** In place of sending a refusal. */
  readonly #refuses = (reply: Reply): void => {
    if (this.#begun.has(reply)) this.#stage.fail('shedding', 'a request is refused that has begun')
  }

  #classOf(exchange: Exchange): string {
    const { importance } = this.#byExchange.get(exchange) as Call
    return this.#plan.classes[importance]?.name as string
  }

  #send(): void {
    const plan = this.#plan
    const timeline = this.#stage.timeline
    const machine = this.#machine
    const random = this.#random
    const drawn = random()
    let importance = 0
    for (let sum = plan.classes[0]?.share ?? 0; drawn >= sum && importance < 2; )
      sum += plan.classes[++importance]?.share as number
    const client =
      random() < plan.greedy ? 'greedy' : `client ${Math.floor(random() * plan.clients)}`
    const planned = { at: timeline.now, process: 0, client, cost: 1, actual: 1 }
    const exchange = plan.isFetch
      ? new FetchExchange(planned, { timeline, machine, core: this.#core })
      : new Exchange(planned, timeline.now)
    const isPatient = random() >= plan.impatient
    const call: Call = {
      exchange,
      client,
      importance,
      sentAt: timeline.now,
      isPatient,
      arrivedAt: timeline.now,
      begunAt: undefined,
      endedAt: undefined,
      result: undefined,
    }
    this.calls.push(call)
    this.#byExchange.set(exchange, call)
    const leavesMs = isPatient ? plan.patienceMs : IMPATIENT_MS * random()
    machine.post(0, SOCKETS, () => this.#receive(call))
    machine.post(leavesMs, SOCKETS, () => this.#leave(call))
  }

  #receive(call: Call): void {
    const { exchange } = call
    call.arrivedAt = this.#stage.timeline.now
    const goesOn = this.#shedder.handle(exchange, replyOf(exchange))
    if (typeof goesOn === 'boolean') {
      if (goesOn) this.line.beginsAtOnce(call)
      this.#goOn(call, goesOn)
      return
    }
    this.line.joins(call)
    goesOn.then(
      (begins) => {
        this.line.ends(call, begins)
        this.#goOn(call, begins)
      },
      (error) => this.#stage.fail('escaped', `${error}`),
    )
  }

  #goOn(call: Call, goesOn: boolean): void {
    const { exchange, result } = call
    if (!goesOn) {
      if (result === undefined) call.result = 'shed'
      exchange.end(this.#stage.timeline.now)
      return
    }
    call.begunAt = this.#stage.timeline.now
    this.#begun.add(replyOf(exchange))
    exchange.begin()
    this.#server.serve(() => {
      call.endedAt = this.#stage.timeline.now
      if (call.result === undefined) call.result = 'served'
      this.line.over(call)
      exchange.end(this.#stage.timeline.now)
    })
  }

  #leave(call: Call): void {
    if (call.result !== undefined) return
    call.result = 'left'
    call.exchange.leave()
    this.#machine.post(0, SOCKETS, () => this.line.checkGone(call))
  }
}

function replyOf(exchange: Exchange): Reply {
  return exchange instanceof FetchExchange ? exchange.reply : exchange
}
