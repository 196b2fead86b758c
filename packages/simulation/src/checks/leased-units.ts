import type { Decision } from '@sluice/core'
import type { Change, Charge, StoreResult } from '@sluice/core/store'
import type { Owner } from '../owner.ts'
import type { PlannedApplication } from '../plan.ts'

/** What a process was charged for a client at a moment of the store's clock, units of each policy. */
interface Charged {
  /** When it first asked for it, ms of the simulation. */
  readonly sentAt: number
  readonly units: number[]
  /** What it has admitted of it, less what its requests have given back. */
  readonly used: number[]
  /** What it has given back. */
  readonly given: number[]
  /** The parts that were taken in advance: what each was, what is used, and what the store had left after it. */
  readonly ahead: { readonly units: number[]; readonly used: number[]; readonly left: number[] }[]
}

/** Units of a client that the store is asked for. */
interface Asked {
  readonly key: string
  readonly costs: number[]
  /** Whether they are taken in advance. */
  readonly isAhead: boolean
}

/** What a process was charged, and what it does with it: each unit is used once or given back once, and in time. */
export class LeasedUnits {
  /** Units that it has admitted by the store or from leases, less what its requests have given back: by policy. */
  readonly used: number[]
  readonly #charged = new Map<string, Charged>()
  /** When it last made a client's quota full, or blocked it, ms of the simulation. */
  readonly #endedAt = new Map<string, number>()
  readonly #planned: NonNullable<PlannedApplication['leases']>
  readonly #owner: Owner

  constructor(owner: Owner, planned: NonNullable<PlannedApplication['leases']>) {
    this.#owner = owner
    this.#planned = planned
    this.used = planned.policies.map(() => 0)
  }

  /** It asks for units. @returns what to call with the answer, if there is one */
  asks(requests: readonly (readonly Charge[])[]): (results?: readonly unknown[]) => void {
    const sentAt = this.#owner.world.timeline.now
    const asked = requests.map((charges) => ({
      key: (charges[0] as Charge).key,
      costs: charges.map(({ cost }) => cost),
      isAhead: this.#owner.machine.ahead.has(charges),
    }))
    return (results = []) => {
      for (const [i, result] of results.entries())
        this.#learn(asked[i] as Asked, result as StoreResult | Error, sentAt)
    }
  }

  #learn({ key, costs, isAhead }: Asked, result: StoreResult | Error, sentAt: number): void {
    if (result instanceof Error || !result.admitted) return
    const id = `${key} ${result.at}`
    const none = () => costs.map(() => 0)
    const charged = this.#charged.get(id) ?? {
      sentAt,
      units: none(),
      used: none(),
      given: none(),
      ahead: [],
    }
    this.#charged.set(id, charged)
    add(charged.units, costs)
    const left = result.outcomes.map(({ remaining }) => remaining)
    if (isAhead) charged.ahead.push({ units: costs, used: none(), left })
  }

  /** A settlement is sent. */
  changes(change: Change): void {
    if (change.kind !== 'settle' || change.isProbe) return
    const { charges, chargedAt } = change
    const [{ key }] = charges as readonly [Charge]
    const given = charges.map(({ cost }) => Math.max(0, -cost))
    if (!given.some((units) => units > 0)) return
    const charged = this.#charged.get(`${key} ${chargedAt}`)
    if (charged === undefined) {
      this.#owner.world.fail(
        'lease',
        `${this.#owner.name} gives back for ${key} what it was not charged`,
      )
      return
    }
    add(charged.given, given)
    this.#check(key, charged)
  }

  /** A request was admitted. */
  admitted(key: string, cost: number, { at, source, policies }: Decision): void {
    if (source !== 'store' && source !== 'lease') return
    const { timeline, fail } = this.#owner.world
    const { leaseMs } = this.#planned
    const costs = policies.map(() => cost)
    add(this.used, costs)
    const charged = this.#charged.get(`${key} ${at}`)
    if (charged === undefined) {
      fail('lease', `${this.#owner.name} admits a request of ${key} for which it was not charged`)
      return
    }
    add(charged.used, costs)
    this.#check(key, charged)
    if (source === 'store') return
    const heldMs = timeline.now - charged.sentAt
    if (heldMs >= leaseMs)
      fail('lease', `${this.#owner.name} uses a lease of ${key} after ${heldMs} ms`)
    if (charged.sentAt < (this.#endedAt.get(key) ?? 0))
      fail('lease', `${this.#owner.name} uses a lease of ${key} that an operator has ended`)
    const [ahead, other] = charged.ahead
    if (ahead === undefined) {
      fail('lease', `${this.#owner.name} uses a lease of ${key} that it does not have`)
      return
    }
    add(ahead.used, costs)
    // Which of two leases of one millisecond it was, nobody knows.
    if (other !== undefined) return
    for (const [i, { name, remaining }] of policies.entries()) {
      const unused = (ahead.units[i] as number) - (ahead.used[i] as number)
      const most = (ahead.left[i] as number) + unused
      if (unused < 0) fail('lease', `${this.#owner.name} uses more than it has leased of ${name}`)
      if (remaining > most) fail('remaining', `${name} said ${remaining}, with a lease, of ${most}`)
    }
  }

  /** A request gives back units that it was admitted with. */
  returns(key: string, units: number, { at, source }: Decision): void {
    if (source !== 'store' && source !== 'lease') return
    const charged = this.#charged.get(`${key} ${at}`)
    const less = this.used.map(() => -units)
    add(this.used, less)
    if (charged !== undefined) add(charged.used, less)
  }

  /** An operator makes a client's quota full, or blocks it. */
  ends(key: string): void {
    this.#endedAt.set(key, this.#owner.world.timeline.now)
  }

  #check(key: string, { units, used, given }: Charged): void {
    for (const [i, charged] of units.entries())
      if ((used[i] as number) + (given[i] as number) > charged)
        this.#owner.world.fail(
          'lease',
          `${this.#owner.name} was charged ${charged} of ${key}, has admitted ${used[i]} and given back ${given[i]}`,
        )
  }
}

function add(to: number[], units: readonly number[]): void {
  for (const [i, each] of units.entries()) to[i] = (to[i] as number) + each
}
