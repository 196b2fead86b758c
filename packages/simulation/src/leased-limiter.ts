import type { Limiter } from '@sluice/core'
import type { Store } from '@sluice/core/store'
import { auditedStore } from './audited-store.ts'
import { limitOf } from './checks/account.ts'
import { checkDeadline } from './checks/deadline.ts'
import { LeasedUnits } from './checks/leased-units.ts'
import type { Owner } from './owner.ts'
import type { PlannedApplication, PlannedRequest } from './plan.ts'
import { Quotas } from './quotas.ts'
import { SOCKETS } from './timeline.ts'

/** The limiter of a process that leases its busy keys; or does not, in a version without. */
export class LeasedLimiter {
  readonly units: LeasedUnits
  readonly #limiter: Limiter<'async'>
  readonly #owner: Owner

  constructor(owner: Owner, planned: NonNullable<PlannedApplication['leases']>) {
    const { name, world } = owner
    this.#owner = owner
    this.units = new LeasedUnits(owner, planned)
    const { deadline, onStoreError, localShare, refusalCache } = world.plan.application
    const { policies, leaseMs, withoutToo } = planned
    const user = {
      name: `the leases of ${name}`,
      audit: world.leased,
      quotas: new Quotas(policies),
      limits: policies.map(limitOf),
      allowance: undefined,
    }
    const store = this.#noting(auditedStore(owner, user))
    const leases = !withoutToo || world.random(`${name} leases`)() < 0.6
    const common = { store, deadline, onStoreError, localShare, refusalCache, prefix: 'leased' }
    this.#limiter = owner.core.createLimiter({
      ...common,
      policies: policies as never,
      ...(leases && { lease: leaseMs }),
    })
  }

  /** So many calls about one client, one each `everyMs`. */
  call(planned: PlannedRequest, { times, everyMs }: NonNullable<PlannedRequest['leased']>): void {
    for (let i = 0; i < times; i += 1)
      this.#owner.machine.post(i * everyMs, SOCKETS, () => void this.#ask(planned))
  }

  close(): void {
    this.#limiter.close()
  }

  /** An operator makes a client's quota full, or blocks it for so many ms. */
  end(client: string, ms?: number): void {
    this.units.ends(client)
    this.#owner.world.leaseBound.ends(client)
    const done = ms === undefined ? this.#limiter.reset(client) : this.#limiter.block(client, ms)
    done.catch(() => {})
  }

  async #ask({ client, cost, actual, workMs = 0 }: PlannedRequest): Promise<void> {
    const { world, name, machine } = this.#owner
    const arrivedAt = world.timeline.now
    const decision = await this.#limiter.consume(client, { cost })
    if (machine.isDead) return
    const { allowed, source, at } = decision
    world.tell(name, () => `${allowed ? 'admits' : 'refuses'} ${cost} of ${client} (${source})`)
    checkDeadline(this.#owner, { arrivedAt })
    if (!allowed) {
      if (source === 'lease') world.fail('lease', `${name} refuses by a lease`)
      return
    }
    this.units.admitted(client, cost, decision)
    const use = world.leaseBound.admitted(client, cost, decision)
    if (actual >= cost) return
    machine.post(workMs, SOCKETS, () => {
      this.units.returns(client, cost - actual, decision)
      if (use !== undefined) use.units = actual
      this.#limiter.settle(client, actual - cost, { at, source }).catch((error: unknown) => {
        if (!(error instanceof this.#owner.core.StoreError))
          world.fail('escaped', `${name}: ${error}`)
      })
    })
  }

  /** A store that tells what is charged and given back. */
  #noting(store: Store<'async'>): Store<'async'> {
    return {
      ...store,
      open: (...opened) => {
        const ledger = store.open(...opened)
        return {
          shard: ledger.shard,
          decide: (requests, isPeek) => {
            const learn = isPeek ? undefined : this.units.asks(requests)
            const answer = ledger.decide(requests, isPeek)
            answer.then(learn, () => learn?.())
            return answer
          },
          change: (change, raised) => {
            this.units.changes(change)
            return ledger.change(change, raised)
          },
        }
      },
    }
  }
}
