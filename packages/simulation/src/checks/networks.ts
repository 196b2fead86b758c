import { isIn } from '../exchange.ts'
import type { Run } from '../run.ts'

/** How often a process asks for the networks while it gets requests, ms. */
const READ_EVERY_MS = 2000
/** The longest that an answer takes on a quiet network, ms. */
const ANSWER_MS = 100

/** A change that an operator has made. Times are ms of the simulation. */
interface Change {
  readonly network: string
  /** 0: it ends a block. */
  readonly ms: number
  readonly askedAt: number
  /** When the store had confirmed it; undefined: it has not. */
  confirmedAt: number | undefined
}

/** What is known of the networks that operators have blocked. */
export class Networks {
  readonly #run: Run
  readonly #all: Change[] = []

  constructor(run: Run) {
    this.#run = run
  }

  /** @param done resolves when the store has confirmed it */
  changes(network: string, ms: number, done: Promise<void>): void {
    const { timeline, tell } = this.#run
    const change: Change = { network, ms, askedAt: timeline.now, confirmedAt: undefined }
    this.#all.push(change)
    done.then(
      () => {
        change.confirmedAt = timeline.now
        tell('store', () => `confirms that ${network} is ${ms > 0 ? 'blocked' : 'not blocked'}`)
      },
      () => {},
    )
  }

  /** Whether a process may refuse a client because of its address. */
  mayBlock(client: string): boolean {
    return this.#all.some(({ network, ms }) => ms > 0 && isIn(network, client))
  }

  /**
   * A process that has asked since the block was confirmed admits nobody of the network.
   * @param askedBefore when the process got its last request before this one, ms of the simulation
   */
  checkAdmitted(
    process: { readonly startedAt: number },
    client: string,
    askedBefore: number,
  ): void {
    const { timeline, fail, plan } = this.#run
    const { now } = timeline
    const [change, ...others] = this.#all.filter(({ network }) => isIn(network, client))
    if (change?.confirmedAt === undefined || others.length > 0 || change.ms === 0) return
    const { confirmedAt, askedAt, ms, network } = change
    const hasAsked = askedBefore > confirmedAt + READ_EVERY_MS && now > askedBefore + ANSWER_MS
    // A fault between may have kept the answer away, or the store may have lost the block.
    const isQuiet = plan.faults.every(
      (each) => each.at === askedAt || ['override', 'grant'].includes(each.kind),
    )
    if (isQuiet && hasAsked && process.startedAt <= askedAt && now < askedAt + ms)
      fail('network', `${client} of ${network} is admitted`)
  }
}
