import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Decision, LimiterOptions } from '@sluice/core'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'

/** The options of a holder's limiter, and its Redis. */
export interface Terms extends Pick<LimiterOptions, 'onStoreError' | 'localShare'> {
  readonly url: string
  readonly concurrent: number
  /** ms */
  readonly hold: number
}

/** An order to a holder: always with the same key. */
export type Order =
  | { readonly open: Terms }
  | { readonly acquire: number }
  | { readonly release: number }
  | { readonly peek: true }

export interface Message {
  readonly id: number
  readonly order: Order
}

export type Answer = Pick<Decision, 'allowed' | 'source' | 'at' | 'resetMs'>

/** The holders of a test file. A process that has survived a test serves the next one too. */
export class Holders {
  /** The most requests of a test that were in progress at the same time, in living processes. */
  most = 0
  readonly #idle: Holder[] = []
  readonly #busy: Holder[] = []
  #code: Promise<string> | undefined

  /** A process, once Redis decides for it. */
  async start(terms: Terms): Promise<Holder> {
    const holder = this.#idle.pop() ?? (await this.#make())
    this.#busy.push(holder)
    await holder.open(terms)
    return holder
  }

  /** The end of a test. */
  rest(): void {
    this.most = 0
    for (const holder of this.#busy.splice(0)) {
      holder.resume()
      if (holder.isAlive) this.#idle.push(holder)
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((holder) => holder.kill()))
  }

  async #make(): Promise<Holder> {
    this.#code ??= bundle(join(__dirname, 'workers', 'holding.ts'))
    return new Holder(await this.#code, () => this.#count())
  }

  #count(): void {
    const inProgress = this.#busy.reduce((sum, { held }) => sum + held, 0)
    this.most = Math.max(this.most, inProgress)
  }
}

/** A process of its own that holds slots of one key. */
export class Holder {
  /** Requests in progress: a process that was killed has none. */
  held = 0
  /** ms */
  hold = 0
  isAlive = true
  readonly #process: ChildProcess
  readonly #counted: () => void
  readonly #waiting = new Map<number, (answers: Answer[]) => void>()
  #orders = 0

  constructor(code: string, counted: () => void) {
    this.#counted = counted
    this.#process = startBundle(code, { flags: ['--no-warnings'] })
    this.#process.on('message', ({ id, answers }: { id: number; answers: Answer[] }) => {
      this.#waiting.get(id)?.(answers)
      this.#waiting.delete(id)
    })
  }

  /** Forgets what it held, and begins anew. */
  async open(terms: Terms): Promise<void> {
    this.held = 0
    this.hold = terms.hold
    await this.#order({ open: terms })
    await this.untilDecidedBy('store')
  }

  /** Begins so many requests together, of which those that are admitted stay in progress. */
  async acquire(count = 1): Promise<Answer[]> {
    const answers = await this.#order({ acquire: count })
    this.held += admitted(answers)
    this.#counted()
    return answers
  }

  /** Begins one request after the other until one is admitted. */
  async untilAdmitted(): Promise<Answer> {
    const next = async () => (await this.acquire()).find(({ allowed }) => allowed)
    return until(next, { what: 'a request is admitted' }) as Promise<Answer>
  }

  async release(count: number): Promise<void> {
    this.held -= count
    await this.#order({ release: count })
  }

  async peek(): Promise<Answer> {
    const [answer] = await this.#order({ peek: true })
    return answer as Answer
  }

  async untilDecidedBy(source: Answer['source']): Promise<void> {
    const decided = async () => (await this.peek()).source === source
    await until(decided, { what: `'${source}' decides` })
  }

  /** kill -9 */
  async kill(): Promise<void> {
    const exit = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exit
    this.isAlive = false
    this.held = 0
  }

  /** Freezes the process with SIGSTOP. */
  freeze(): void {
    this.#process.kill('SIGSTOP')
  }

  resume(): void {
    this.#process.kill('SIGCONT')
  }

  #order(order: Order): Promise<Answer[]> {
    this.#orders += 1
    const id = this.#orders
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#process.send({ id, order } satisfies Message)
    })
  }
}

export function admitted(answers: readonly Answer[]): number {
  return answers.filter(({ allowed }) => allowed).length
}
