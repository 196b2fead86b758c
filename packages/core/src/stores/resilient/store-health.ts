import { Deadline } from './deadline.ts'
import { Health } from './health.ts'

/**
 * How a remote store is, part by part, judged by one deadline. A change is told once, as a warning
 * of the process: the first part that is given up, and when all of them are trusted again.
 */
export class StoreHealth {
  private readonly deadline: Deadline
  private readonly parts: Health[] = []
  private down = 0

  /** @param deadlineMs the longest that a call may take, 1 … 60,000 */
  constructor(deadlineMs: number) {
    this.deadline = new Deadline(deadlineMs)
  }

  /** @param part 0 … 15, see `Ledger.part` */
  of(part: number): Health {
    const known = this.parts[part]
    if (known !== undefined) return known
    const health = new Health(this.deadline, (reason) => this.tell(reason))
    this.parts[part] = health
    return health
  }

  /** @param reason undefined: a part is trusted again */
  private tell(reason: unknown): void {
    this.down += reason === undefined ? -1 : 1
    if (reason !== undefined && this.down === 1) {
      warn('SLUICE_STORE_DOWN', `The store is not asked until it is back: ${text(reason)}`)
    } else if (this.down === 0) {
      warn('SLUICE_STORE_UP', 'The store is back, and decides again.')
    }
  }
}

function warn(code: string, message: string): void {
  process.emitWarning(message, { type: 'SluiceWarning', code })
}

function text(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
