/** What DynamoDB's field `Date` leaves out, ms. */
const SECOND = 1000

/** A command of the SDK, to which middleware can be added. */
export interface Command {
  readonly middlewareStack: { add(middleware: never, place: never): void }
}

type Next = (args: unknown) => Promise<{ response: { headers?: { date?: string } } }>

/**
 * The time of DynamoDB, as near as its responses tell: that of this process, if they do not disprove it. So all
 * processes have one clock, to less than a second, however wrong their own are.
 */
export class ServerClock {
  /** Between these is DynamoDB's time minus that of this process, ms. */
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY

  /** @returns ms since the epoch, an integer */
  now(): number {
    return Date.now() + Math.ceil(Math.min(Math.max(0, this.#least), this.#most))
  }

  /** Observes the responses to a command. */
  watch({ middlewareStack }: Command): void {
    const middleware = (next: Next) => async (args: unknown) => {
      const sentAt = Date.now()
      const answer = await next(args)
      this.observe(answer.response.headers?.date, sentAt, Date.now())
      return answer
    }
    middlewareStack.add(middleware as never, { step: 'deserialize', priority: 'low' } as never)
  }

  /**
   * @param date the field `Date` of a response
   * @param sentAt when its request was sent, ms on the clock of this process, which reads `receivedAt` now
   */
  observe(date: string | undefined, sentAt: number, receivedAt: number): void {
    const time = Date.parse(date ?? '')
    if (Number.isNaN(time)) return
    const [least, most] = [time - receivedAt, time + SECOND - sentAt]
    // Otherwise one of the clocks was set, or goes faster.
    const isPossible = least <= this.#most && most >= this.#least
    this.#least = isPossible ? Math.max(least, this.#least) : least
    this.#most = isPossible ? Math.min(most, this.#most) : most
  }
}
