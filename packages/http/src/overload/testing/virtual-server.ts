import { Admission, type AdmissionOptions, type Entry, type Runtime } from '../admission.ts'

/** A request of a simulated client. */
export interface Arrival {
  /** The index of its class. */
  readonly importance?: number
  readonly key?: string
  /** Its route. */
  readonly kind?: string
  /** The client leaves if it has no answer by then, ms after it has asked. */
  readonly patienceMs?: number
  /** It comes over a new connection, of which a turn of the event loop accepts one. */
  readonly connects?: true
  /** How often its proxy sends it again at once when it is refused. */
  readonly repeats?: number
}

/** How a request went. Times are ms from its arrival. */
export interface Outcome extends Arrival {
  readonly at: number
  result: 'served' | 'shed' | 'left' | undefined
  latencyMs: number
}

/**
 * A process of Node on a virtual clock: one event loop, whose turns read what has arrived before they go on with
 * what was put off, and a load shedder.
 */
export class VirtualServer {
  now = 0
  heap = 0.1
  readonly outcomes: Outcome[] = []
  readonly admission: Admission
  /** The planned events, read in the order of time. */
  readonly #events: { at: number; act: () => void; order: number }[] = []
  #immediates: (() => void)[] = []
  /** Reads the requests of connections that are not accepted yet. */
  readonly #backlog: (() => void)[] = []
  #order = 0
  readonly #handle: (server: VirtualServer, end: () => void, outcome: Outcome) => void

  /** @param handle serves a request: calls `block` for time on the CPU, and `end` */
  constructor(
    options: Partial<AdmissionOptions>,
    handle: (server: VirtualServer, end: () => void, outcome: Outcome) => void,
    report?: () => void,
  ) {
    this.#handle = handle
    const runtime: Runtime = {
      now: () => this.now,
      afterTurn: (act) => void this.#immediates.push(act),
      inBackground: (act, ms) => {
        this.at(this.now + ms, act)
        return () => {}
      },
      heapShare: () => this.heap,
    }
    const all = {
      classes: [{ name: 'default', reserve: 0 }],
      maxWaiting: 200,
      maxWaitMs: 1000,
      isClients: () => false,
      kindOf: ({ request }: Entry) => (request as Outcome).kind ?? 'all',
      clientOf: ({ request }: Entry) => (request as Outcome).key ?? 'a',
      ...options,
    }
    this.admission = new Admission(all, runtime, report)
  }

  at(at: number, act: () => void): void {
    const event = { at, act, order: this.#order++ }
    let i = this.#events.length
    while (i > 0 && (this.#events[i - 1] as typeof event).at > at) i -= 1
    this.#events.splice(i, 0, event)
  }

  /** Keeps the event loop busy. */
  block(ms: number): void {
    this.now += ms
  }

  arrive(at: number, arrival: Arrival = {}): void {
    const receive = () => this.#receive(at, arrival)
    this.at(at, arrival.connects ? () => void this.#backlog.push(receive) : receive)
  }

  run(until: number): void {
    for (;;) {
      const [next] = this.#events
      if (this.#immediates.length + this.#backlog.length === 0) {
        if (next === undefined || next.at > until) break
        this.now = Math.max(this.now, next.at)
      }
      const due = this.#events.findIndex(({ at }) => at > this.now)
      for (const { act } of this.#events.splice(0, due < 0 ? this.#events.length : due)) act()
      const accepted = this.#backlog.shift()
      if (accepted !== undefined) this.at(this.now, accepted)
      const immediates = this.#immediates
      this.#immediates = []
      for (const each of immediates) each()
    }
    this.now = Math.max(this.now, until)
  }

  #receive(at: number, arrival: Arrival): void {
    const { importance = 0, key = 'a', patienceMs = Infinity } = arrival
    const outcome: Outcome = { ...arrival, at, result: undefined, latencyMs: 0 }
    this.outcomes.push(outcome)
    const settle = (result: Outcome['result']) => {
      if (outcome.result !== undefined) return
      outcome.result = result
      outcome.latencyMs = this.now - at
      const { repeats = 0 } = arrival
      if (result === 'shed' && repeats > 0)
        this.arrive(this.now, { ...arrival, repeats: repeats - 1 })
    }
    const serve = (entry: Entry) => {
      const end = () => {
        settle('served')
        this.admission.end(entry)
      }
      this.#handle(this, end, outcome)
    }
    const entry = this.admission.enter(importance, outcome, undefined)
    if (entry !== undefined) {
      serve(entry)
      return
    }
    const waiter = this.admission.wait(importance, key)
    if (waiter === undefined) {
      settle('shed')
      return
    }
    waiter.settle = (begins) => {
      if (begins) serve(this.admission.resume(waiter, outcome, undefined))
      else settle('shed')
    }
    if (patienceMs < Infinity)
      this.at(at + patienceMs, () => {
        this.admission.leave(waiter)
        settle('left')
      })
  }
}

/** Calls at the times of a Poisson process, ms. */
export function poisson(
  random: () => number,
  { perSecond, from, to }: { perSecond: number; from: number; to: number },
  act: (at: number) => void,
): void {
  for (let at = from; ; ) {
    at -= (Math.log(1 - random()) * 1000) / perSecond
    if (at >= to) return
    act(at)
  }
}

/** A database of so many connections: each query takes one for so long, and waits for one first. */
export function database(connections: number, ms: () => number) {
  let busy = 0
  const waiting: (() => void)[] = []
  const query = (server: VirtualServer, done: () => void): void => {
    if (busy === connections) return void waiting.push(() => query(server, done))
    busy += 1
    server.at(server.now + ms(), () => {
      busy -= 1
      done()
      waiting.shift()?.()
    })
  }
  return query
}
