import { SluiceError } from '../../errors/sluice-error.ts'
import { typeOf } from '../../errors/thrown.ts'
import { warn } from '../../errors/warning.ts'
import { type StoreEvent, storeEvents } from '../../events.ts'
import { Deadline } from './deadline.ts'
import { Health, type HealthWatch } from './health.ts'

let stores = 0

/**
 * The health of each part of a remote store, with one deadline. Warns once of each change, and
 * publishes it: when the first part is given up, when it is known that the set-up can't work, and
 * when all parts work again.
 */
export class StoreHealth implements HealthWatch {
  private readonly number: number
  private readonly deadline: Deadline
  private readonly parts: Health[] = []
  private downs = 0
  private isExplained = false

  /** @param deadlineMs the longest that a call may take, 1 … 60,000 */
  constructor(deadlineMs: number) {
    this.deadline = new Deadline(deadlineMs)
    stores += 1
    this.number = stores
  }

  /** @param part 0 … 15, see `Ledger.part` */
  of(part: number): Health {
    const known = this.parts[part]
    if (known !== undefined) return known
    const health = new Health(this.deadline, this)
    this.parts[part] = health
    return health
  }

  down(reason: unknown): void {
    this.downs += 1
    if (reason instanceof SluiceError) this.setUpFails(reason)
    else if (this.downs === 1) this.tellDown(reason)
  }

  setUpFails(reason: SluiceError): void {
    if (this.isExplained) return
    this.isExplained = true
    this.tellDown(reason)
  }

  up(): void {
    this.downs -= 1
    if (this.downs > 0) return
    this.isExplained = false
    warn('SLUICE_STORE_UP', 'The store has recovered, and decides again.')
    this.publish('up')
  }

  /** Nothing uses the store any more. */
  close(): void {
    if (this.downs > 0) this.publish('closed')
  }

  private tellDown(reason: unknown): void {
    const said = reason instanceof Error ? reason.message : String(reason)
    warn('SLUICE_STORE_DOWN', `The store failed, and is not used until it recovers: ${said}`)
    this.publish('down', said, typeOf(reason))
  }

  private publish(state: StoreEvent['state'], reason?: string, errorType?: string): void {
    if (!storeEvents.hasSubscribers) return
    storeEvents.publish({ store: this.number, state, reason, errorType })
  }
}
