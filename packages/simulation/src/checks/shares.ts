import type { Decision } from '@sluice/core'
import type { Charge } from '@sluice/core/store'
import type { Exchange } from '../exchange.ts'
import type { PlannedPolicy } from '../plan.ts'
import type { Fail } from '../stage.ts'

/** What is known of a client of a policy. */
interface Chosen {
  /** The largest share of the clients that has left it out. */
  leftOut: number
  /** The smallest share that has not. */
  chosen: number
}

const UNKNOWN: Readonly<Chosen> = { leftOut: 0, chosen: 1 }

/** A policy of the limiter, or of a route, which chooses its clients by itself. */
type Choosing = Pick<PlannedPolicy, 'name' | 'isOfRoute'>

function idOf({ name, isOfRoute }: Choosing, key: string): string {
  return `${name}${isOfRoute ? ' of a route' : ''}\n${key}`
}

/** Whom policies refuse that are dry runs for a share of their clients: always the same ones, in every process. */
export class Shares {
  readonly #fail: Fail
  /** The clients, by policy and key. */
  readonly #clients = new Map<string, Chosen>()
  readonly #dry = new WeakMap<Charge, boolean>()

  constructor(fail: Fail) {
    this.#fail = fail
  }

  /**
   * A process has read what a request is charged.
   *
   * @param share the share of its clients that the policy refuses, 0 … 1
   * @returns whether it refuses nothing of this client
   */
  read(policy: Choosing, charge: Charge, share: number): boolean {
    const { key, limit } = charge
    const said = !limit.refuses
    const id = idOf(policy, key)
    const client = this.#clients.get(id) ?? { ...UNKNOWN }
    this.#clients.set(id, client)
    const isKnown = share <= client.leftOut || share >= client.chosen
    const isDry = isKnown ? share <= client.leftOut : said
    if (isDry !== said) {
      const { leftOut, chosen } = client
      this.#fail(
        'enforce',
        `${policy.name} ${said ? 'leaves out' : 'refuses'} ${key} with a share of ${share}, after ${leftOut} and ${chosen}`,
      )
    }
    if (isDry) client.leftOut = Math.max(client.leftOut, share)
    else client.chosen = Math.min(client.chosen, share)
    this.#dry.set(charge, isDry)
    return isDry
  }

  /** Whether a charge says what is known of its client. */
  fits(policy: Choosing, { key, limit }: Charge, share: number): boolean {
    const { leftOut, chosen } = this.#clients.get(idOf(policy, key)) ?? UNKNOWN
    return limit.refuses ? share > leftOut : share < chosen
  }

  /** Whether the policy of a charge refuses nothing of its client. */
  isDry(charge: Charge): boolean {
    return this.#dry.get(charge) ?? !charge.limit.refuses
  }

  /** A dry run refuses nothing, and says what it would refuse. */
  checkDecided({ charges, planned }: Exchange, decision: Decision, mayBlock: boolean): void {
    const { allowed, policies, ban } = decision
    if (policies.length === 0) return
    const isDry = (i: number) => this.isDry(charges[i] as Charge)
    const refusing = policies.filter((each, i) => !each.allowed && !isDry(i))
    if (allowed && refusing.length > 0)
      this.#fail('dry run', `${refusing[0]?.name} refuses, and ${planned.client} is admitted`)
    if (ban !== undefined || mayBlock) return
    if (!allowed && refusing.length === 0)
      this.#fail('dry run', `${planned.client} is refused, and no policy refuses that may`)
    const wrong = policies.find((each, i) => (each.dryRun === true) !== isDry(i))
    if (wrong !== undefined)
      this.#fail('dry run', `${wrong.name} is${wrong.dryRun ? '' : ' not'} called a dry run`)
  }
}
