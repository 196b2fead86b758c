import type { Budget, BudgetCall } from '@sluice/budget'
import { storeOver } from './audited-store.ts'
import { checkDeadline } from './checks/deadline.ts'
import type { Spending } from './checks/spent.ts'
import { teamOf } from './exchange.ts'
import type { Owner } from './owner.ts'
import type { PlannedBudget, PlannedRequest } from './plan.ts'
import { SOCKETS } from './timeline.ts'

/** No simulation is so long that it ends. */
const WINDOW = '30d'

/** The calls of language models that a process makes, within its budget. */
export class BudgetedCalls {
  readonly budget: Budget<'client' | 'team'>
  readonly #owner: Owner

  constructor(owner: Owner, planned: PlannedBudget) {
    this.#owner = owner
    const { core, world } = owner
    const { deadline } = world.plan.application
    const store = storeOver(owner)
    this.budget = core.createBudget({ ...planned, store, unit: 'tokens', window: WINDOW, deadline })
  }

  async call({ client, cost, actual, workMs = 0, model }: PlannedRequest): Promise<void> {
    const { name, machine, world } = this.#owner
    const { timeline, tell, spent } = world
    const who = { client, team: teamOf(client) }
    const used = (output: number) => ({ model: 'any', output })
    if (model === 'bill') {
      tell(name, () => `settles ${actual} of ${client}, which nobody has reserved`)
      spent.begins(machine, client, 0).actual = actual
      return this.budget.settle(who, used(actual))
    }
    const spending = spent.begins(machine, client, cost)
    const arrivedAt = timeline.now
    const reserved = await this.budget.reserve(who, used(cost))
    tell(name, () => `${reserved.allowed ? 'reserves' : 'may not use'} ${cost} for ${client}`)
    checkDeadline(this.#owner, { arrivedAt })
    if (machine.isDead) return
    if (reserved.levels.length > 0) spent.decided(spending, reserved.allowed)
    if (reserved.allowed)
      machine.post(workMs, SOCKETS, () =>
        this.#end(reserved, spending, { client, cost, actual, model }),
      )
  }

  close(): void {
    this.budget.close()
  }

  #end(
    reserved: BudgetCall,
    spending: Spending,
    { client, cost, actual, model }: Pick<PlannedRequest, 'client' | 'cost' | 'actual' | 'model'>,
  ): void {
    const units = model === 'release' ? cost : model === 'cancel' ? 0 : actual
    this.#owner.world.tell(this.#owner.name, () => `ends a call of ${client} with ${units}`)
    spending.actual = units
    if (model === 'release') void reserved.release()
    else if (model === 'cancel') void reserved.cancel()
    else void reserved.settle({ model: 'any', output: actual })
    if (model === 'settle twice') void reserved.settle({ model: 'any', output: actual + 1 })
  }
}
