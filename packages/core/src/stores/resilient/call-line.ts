/** The most calls in progress at the same time, for each part of a store. */
const MAX_UNDER_WAY = 1000
/** The most calls that wait: about as many as a Redis answers in 100 ms. */
const MAX_WAITING = 10_000

/** A call that waits in the line, or is in progress. */
export interface Place {
  /** Called when its turn has come. */
  begin(): void
  /** Called instead, if its turn never comes. */
  refuse(reason: unknown): void
  state: 'waiting' | 'active' | 'left'
}

/**
 * Bounds the calls in progress. Further calls wait in order, so that a burst of requests is work
 * for a store, not its failure.
 */
export class CallLine {
  private active = 0
  private waiting: Place[] = []
  /** Of the next one in `waiting`; those before it have left. */
  private next = 0

  /** Begins the call immediately or, if many are in progress, in its turn. */
  enter(place: Place): void {
    if (this.active < MAX_UNDER_WAY) this.start(place)
    else if (this.waiting.length - this.next < MAX_WAITING) this.waiting.push(place)
    else place.refuse(new Error('too many calls wait for the store'))
  }

  /** Call it once a call is over, even while it waits. */
  leave(place: Place): void {
    if (place.state === 'active') this.active -= 1
    place.state = 'left'
    while (this.active < MAX_UNDER_WAY) {
      const following = this.shift()
      if (following === undefined) return
      if (following.state === 'waiting') this.start(following)
    }
  }

  /** Refuses all that wait. */
  clear(reason: unknown): void {
    const refused = this.waiting.slice(this.next)
    this.waiting = []
    this.next = 0
    for (const place of refused) {
      if (place.state === 'waiting') place.refuse(reason)
    }
  }

  private start(place: Place): void {
    this.active += 1
    place.state = 'active'
    place.begin()
  }

  private shift(): Place | undefined {
    if (this.next === this.waiting.length) return undefined
    const place = this.waiting[this.next]
    this.next += 1
    if (this.next === this.waiting.length || this.next === MAX_UNDER_WAY) {
      this.waiting = this.waiting.slice(this.next)
      this.next = 0
    }
    return place
  }
}
