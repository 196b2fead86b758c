import { byName, type PolicyLayers } from '../../stores/documents/policy-document.ts'

/**
 * When the settings of a document end that end by themselves. The clock of the store says so, which may step back: then
 * a setting ends when as much time has passed in this process as it had left when this process first saw it.
 */
export class SettingEnds {
  /** When one ends next, ms on the store's clock; `Infinity`: none does. */
  readonly next: number
  /** When one ends next in this process, by `performance.now()`. */
  readonly #nextHere: number
  /** When each ends, by `performance.now()`. */
  readonly #ends: ReadonlyMap<string, number>

  constructor(ends: ReadonlyMap<string, number> = new Map(), next = Infinity) {
    this.#ends = ends
    this.next = next
    const now = performance.now()
    this.#nextHere = Math.min(Infinity, ...[...ends.values()].filter((end) => end > now))
  }

  /** The ends in a document that has been read at `at`, ms on the store's clock. */
  after(policies: PolicyLayers, at: number): SettingEnds {
    const now = performance.now()
    const ends = new Map<string, number>()
    let next = Infinity
    for (const [name, layers] of Object.entries(policies)) {
      for (const { until } of layers) {
        if (until === undefined || until <= at) continue
        const end = this.#ends.get(idOf(name, until)) ?? now + until - at
        ends.set(idOf(name, until), end)
        if (end > now) next = Math.min(next, until)
      }
    }
    return new SettingEnds(ends, next)
  }

  /** Whether a setting has ended since. @param at ms on the store's clock */
  isDue(at: number): boolean {
    return at >= this.next || performance.now() >= this.#nextHere
  }

  /** Removes the settings that have ended in this process. */
  withoutEnded(policies: PolicyLayers): PolicyLayers {
    const now = performance.now()
    const isAlive = (name: string, until: number | undefined) =>
      until === undefined || (this.#ends.get(idOf(name, until)) ?? now) > now
    const alive = byName(policies)
    for (const [name, layers] of Object.entries(policies))
      alive[name] = layers.filter(({ until }) => isAlive(name, until))
    return alive
  }
}

function idOf(policy: string, until: number): string {
  return `${until} ${policy}`
}
