const DAY = 86_400_000

/** The date and the time that clocks show, as if they stood in UTC: ms. */
type LocalMs = number

/** An IANA time zone: what its clocks show, by the rules that `Intl` has. */
export class TimeZone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat

  /**
   * @param name a name from the IANA database, such as `'Europe/Berlin'`
   * @throws RangeError if `Intl` does not know it
   */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    this.name = this.#format.resolvedOptions().timeZone
  }

  /** The local time at an instant, to the second. */
  local(instant: number): LocalMs {
    const parts: { [type: string]: number } = {}
    for (const { type, value } of this.#format.formatToParts(instant)) parts[type] = Number(value)
    const { year, month, day, hour, minute, second } = parts as Record<string, number>
    return Date.UTC(year as number, (month as number) - 1, day, hour, minute, second)
  }

  /**
   * The instant at which a day begins: midnight, the first of two, or when clocks skip midnight the
   * moment at which they do.
   *
   * @param midnight the day's midnight, as its clocks show it
   */
  startOfDay(midnight: LocalMs): number {
    // The offset changes at most once in the two days around it.
    const before = this.#offset(midnight - DAY)
    const after = this.#offset(midnight + DAY)
    const first = midnight - Math.max(before, after)
    if (this.local(first) === midnight) return first
    const second = midnight - Math.min(before, after)
    if (this.local(second) === midnight) return second
    return this.#firstInstantFrom(midnight, first, second)
  }

  /** ms that clocks are ahead of UTC. */
  #offset(instant: number): number {
    return this.local(instant) - Math.floor(instant / 1000) * 1000
  }

  /** The first instant, within `(early, late]`, at which clocks show `local` or more. */
  #firstInstantFrom(local: LocalMs, early: number, late: number): number {
    let [low, high] = [early, late]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.local(middle) >= local) high = middle
      else low = middle
    }
    return high
  }
}
