import type { ListingBackend, TransactionalBackend } from '@sluice/transactional'
import type { Machine } from './machine.ts'
import type { Run } from './run.ts'
import type { Script, Server } from './server.ts'
import { SOCKETS } from './timeline.ts'

/** What a connection does to what is sent over it. */
export type Mode =
  | 'works'
  /** Nothing arrives. */
  | 'lose requests'
  /** Scripts run, and nobody is answered. */
  | 'lose replies'

/** A script on its way. */
interface Call {
  readonly script: Script
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
  /** How often it was sent: only the last time is answered. */
  sends: number
}

/** The longest that a packet takes on a quiet network, ms. */
const LATENCY_MS = 3

/** The client of a process, and its connections to the store: what is sent first arrives first. */
export class Connection {
  mode: Mode = 'works'
  /** What each way takes longer, ms. */
  slowMs = 0
  /** How many scripts were sent. */
  sent = 0
  readonly #calls = new Set<Call>()
  readonly #run: Run
  readonly #machine: Machine
  readonly #random: () => number
  #sentUntil = 0
  #answeredUntil = 0

  constructor(run: Run, machine: Machine, random: () => number) {
    this.#run = run
    this.#machine = machine
    this.#random = random
  }

  /** Whether the client keeps what it can't send until it is connected again, as ioredis does. */
  get queuesOffline(): boolean {
    return this.#run.plan.application.queuesOffline
  }

  readonly transact: TransactionalBackend['transact'] = (keys, decide) =>
    this.run({
      keys,
      run(server) {
        const states = keys.map((key) => server.valueOf(key) as Uint8Array | undefined)
        const now = server.now()
        const { changes, value } = decide(states, now)
        for (const { key, state, ttlMs } of changes) server.write(key, state, now + ttlMs)
        return value
      },
    })

  readonly list: ListingBackend['list'] = ({ after, before, count }) =>
    this.run({
      keys: [after],
      run(server) {
        const names = server.keysBetween(after, before).slice(0, count)
        const keys = names.map((key) => ({ key, state: server.valueOf(key) as Uint8Array }))
        return { keys, now: server.now() }
      },
    })

  run<T>(script: Script): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = { script, resolve, reject, sends: 0 }
      this.#calls.add(call)
      this.#send(call)
    })
  }

  /**
   * The connection ends, and is made anew.
   * @param resends whether the client sends again what was not answered: it may run twice
   * @param server the one that it leads to. Default: all of them
   */
  reset(resends: boolean, server?: Server): void {
    for (const call of [...this.#calls]) {
      if (server !== undefined && server !== this.#serverOf(call)) continue
      call.sends += 1
      if (resends) this.#send(call)
      else this.#answer(call, call.sends, new Error('the connection was reset'))
    }
  }

  #send(call: Call): void {
    this.sent += 1
    if (this.mode === 'lose requests') return
    this.#sentUntil = this.#later(this.#sentUntil)
    const { sends } = call
    this.#run.timeline.at(this.#sentUntil, SOCKETS, () => this.#arrive(call, sends))
  }

  #arrive(call: Call, sends: number): void {
    const server = this.#serverOf(call)
    if (!server.isUp) {
      if (this.queuesOffline) server.whenUp(() => this.#send(call))
      else this.#answer(call, sends, new Error('connect ECONNREFUSED'))
      return
    }
    const reply = (error: Error | undefined, value?: unknown) => {
      if (this.mode !== 'lose replies') this.#answer(call, sends, error, value)
    }
    server.receive(call.script, reply, () => this.#send(call))
  }

  #serverOf({ script }: Call): Server {
    return this.#run.cluster.serverOf(script.keys[0] as string)
  }

  #answer(call: Call, sends: number, error: Error | undefined, value?: unknown): void {
    this.#answeredUntil = this.#later(this.#answeredUntil)
    this.#machine.post(this.#answeredUntil - this.#run.timeline.now, SOCKETS, () => {
      if (call.sends !== sends || !this.#calls.delete(call)) return
      if (error === undefined) call.resolve(value as never)
      else call.reject(error)
    })
  }

  /** When what is sent now arrives: behind what was sent before. */
  #later(previous: number): number {
    const ms = this.slowMs + LATENCY_MS * this.#random() ** 2
    return Math.max(previous, this.#run.timeline.now + ms)
  }
}
