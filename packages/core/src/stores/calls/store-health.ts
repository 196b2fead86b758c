import { SluiceError } from '../../errors/sluice-error.ts'
import { typeOf } from '../../errors/thrown.ts'
import { warn } from '../../errors/warning.ts'
import { type StoreEvent, storeEvents } from '../../events.ts'

let stores = 0

/**
 * Warns once of each change of a remote store's health, and publishes it: when the first of its parts is
 * given up, when it is known that the set-up can't work, and when all parts work again.
 */
export class StoreHealth {
  private readonly number: number
  private downs = 0
  private isExplained = false

  constructor() {
    stores += 1
    this.number = stores
  }

  /** A part of the store is given up. */
  down(reason: unknown): void {
    this.downs += 1
    if (reason instanceof SluiceError) this.setUpFails(reason)
    else if (this.downs === 1) this.reportDown(reason)
  }

  /** The set-up can't work. This may become known only after the part was given up. */
  setUpFails(reason: SluiceError): void {
    if (this.isExplained) return
    this.isExplained = true
    this.reportDown(reason)
  }

  /** A part works again. */
  up(): void {
    this.downs -= 1
    if (this.downs > 0) return
    this.isExplained = false
    warn('SLUICE_STORE_UP', 'The store has recovered, and decides again.')
    this.publish('up')
  }

  /** Publishes that a store that was down is closed: nothing uses it any more. */
  close(): void {
    if (this.downs > 0) this.publish('closed')
  }

  private reportDown(reason: unknown): void {
    const text = reason instanceof Error ? reason.message : String(reason)
    warn('SLUICE_STORE_DOWN', `The store failed, and is not used until it recovers: ${text}`)
    this.publish('down', text, typeOf(reason))
  }

  private publish(state: StoreEvent['state'], reason?: string, errorType?: string): void {
    if (!storeEvents.hasSubscribers) return
    storeEvents.publish({ store: this.number, state, reason, errorType })
  }
}
