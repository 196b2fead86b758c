import { setImmediate as turn } from 'node:timers/promises'
import type { Duration } from '@sluice/core'
import type { SuiteRequest, TestOptions } from '../adapter-kit.ts'

/** An application that streams, to two clients at the same time at most. */
export class Streams {
  /** Whether the application waits before its response instead of after the first chunk. */
  answersLate = false
  /** Whether a response is a single chunk. */
  isShort = false
  begun = 0
  atOnce = 0
  most = 0
  /** Calls of `settle` for long streams. */
  settled = 0
  readonly #producedBy = new Map<number, number>()
  readonly #length: number
  readonly #text: string
  #answered = 0
  #isGoing = false
  readonly #waiting: (() => void)[] = []

  constructor(length: number, text = 'chunk') {
    this.#length = length
    this.#text = text
  }

  get produced(): number {
    return [...this.#producedBy.values()].reduce((sum, each) => sum + each, 0)
  }

  options({
    estimate = 0,
    window = '1h',
    hold = '1s',
  }: {
    estimate?: number
    window?: Duration
    hold?: Duration
  }): TestOptions {
    const idOf = ({ headers }: SuiteRequest) => Number(headers['x-id'] ?? 0)
    return {
      policies: [
        { name: 'slots', concurrent: 2, hold },
        {
          name: 'tokens',
          limit: 1000,
          window,
          algorithm: 'fixed-window',
          cost: (request) => (idOf(request) === 0 ? 0 : estimate),
          settle: (request) => {
            if (idOf(request) !== 0) this.settled += 1
            return this.#producedBy.get(idOf(request)) ?? 0
          },
        },
      ],
    }
  }

  /** All streams produce the rest of their chunks. */
  goOn(): void {
    this.#isGoing = true
    for (const each of this.#waiting.splice(0)) each()
  }

  readonly work = async (): Promise<void> => {
    if (this.isShort) return
    this.begun += 1
    this.atOnce += 1
    this.most = Math.max(this.most, this.atOnce)
    if (this.answersLate) await this.#untilGoing()
  }

  readonly chunks = (): AsyncIterable<string> => {
    if (this.isShort) return short()
    this.#answered += 1
    return this.#long(this.#answered)
  }

  /** @param id requests are sent one after the other: those that are admitted have the first numbers */
  async *#long(id: number): AsyncGenerator<string> {
    for (let i = 1; i <= this.#length; i += 1) {
      this.#producedBy.set(id, i)
      yield this.#text
      if (i === 1) await this.#untilGoing()
      await turn()
    }
    this.atOnce -= 1
  }

  async #untilGoing(): Promise<void> {
    if (!this.#isGoing) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

async function* short(): AsyncGenerator<string> {
  yield 'served'
}
