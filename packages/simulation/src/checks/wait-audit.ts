import type { Charge } from '@sluice/core/store'
import { Audit } from './audit.ts'

/** What the store has decided about those that wait, and how much it has charged them. */
export class WaitAudit extends Audit {
  /** Units charged, without those that were given back. */
  charged = 0

  override decided(...given: Parameters<Audit['decided']>): void {
    const [charges, , , { admitted }] = given
    if (admitted) this.charged += unitsOf(charges)
    super.decided(...given)
  }

  override add(...given: Parameters<Audit['add']>): void {
    const [, , entry] = given
    if (entry.kind === 'settle') this.charged += entry.units
    super.add(...given)
  }
}

function unitsOf(charges: readonly Charge[]): number {
  return charges.reduce((units, { cost }) => units + cost, 0)
}
