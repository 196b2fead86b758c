import type { Run } from '../run.ts'
import type { Witness } from '../server.ts'

/** What is checked until the store loses what it has counted, or its clock steps. */
export class UntilLoss implements Witness {
  protected isOver = false
  protected readonly run: Run

  constructor(run: Run) {
    this.run = run
  }

  undone(): void {
    this.isOver = true
  }

  lost(): void {
    this.isOver = true
  }

  clockStepped(): void {
    this.isOver = true
  }
}
